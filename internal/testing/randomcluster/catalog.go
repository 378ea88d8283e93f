package randomcluster

import (
	"fmt"
	"math"
	"strconv"

	"tenon/core/catalog"
)

const gpuResource = "example.com/gpu"

// addTypes makes a small catalogue: some sizes, perhaps a second architecture, perhaps one with
// accelerators. Some types are not sold everywhere, and some are sold out.
func (w *world) addTypes() {
	for i, size := range some(w.d, 1, 2, 4, 8, 16) {
		arch := "amd64"
		if w.d.percent(30) {
			arch = "arm64"
		}
		w.addType(fmt.Sprintf("%s%d", one(w.d, "c", "m"), i), size, arch, false)
	}
	w.addType("m9", one(w.d, 4, 8), "amd64", false) // so that at least one type is usually available
	if w.d.percent(30) {
		w.addType("g8", 8, "amd64", true)
	}
}

func (w *world) addType(name string, cores int, arch string, gpu bool) {
	perCore := one(w.d, 2, 4, 8)
	t := Type{
		Name: name, Architecture: arch, OperatingSystems: []string{"linux"},
		Capacity: map[string]string{
			"cpu": strconv.Itoa(cores), "memory": fmt.Sprintf("%dGi", cores*perCore),
			"pods": strconv.Itoa(one(w.d, 4, 8, 16, 110)), "ephemeral-storage": "20Gi",
		},
		Overhead: map[string]string{"cpu": "100m", "memory": "256Mi"},
		Labels:   map[string]string{familyLabel: name[:1], sizeLabel: strconv.Itoa(cores)},
	}
	price := 0.04 * float64(cores) * (1 + 0.1*float64(perCore))
	if gpu {
		t.Capacity[gpuResource] = strconv.Itoa(one(w.d, 1, 2, 4))
		price *= 3
	}
	for i, zone := range w.zones {
		if !w.d.percent(90) {
			continue
		}
		base := price * (1 + 0.01*float64(i))
		t.Offerings = append(t.Offerings, w.offering(zone, catalog.OnDemand, base), w.offering(zone, catalog.Spot, base*0.4))
		if w.d.percent(8) {
			t.Offerings = append(t.Offerings, Offering{
				Zone: zone, CapacityType: catalog.Reserved, Price: 0.0001, Available: true,
				ReservationID: "cr-" + name + "-" + zone, ReservationCapacity: int64(w.d.between(0, 2)),
			})
		}
	}
	if len(t.Offerings) > 0 {
		w.out.Types = append(w.out.Types, t)
	}
}

func (w *world) offering(zone, capacityType string, price float64) Offering {
	price *= 0.9 + 0.2*w.d.Float64()
	return Offering{Zone: zone, CapacityType: capacityType, Price: math.Round(price*1e6) / 1e6, Available: w.d.percent(85)}
}
