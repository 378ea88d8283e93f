package memory

import (
	"fmt"
	"strconv"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// Region is where Sample is sold, and Zones are its zones.
const Region = "memory-1"

// Zones are those of the region.
func Zones() []string { return []string{"memory-1a", "memory-1b", "memory-1c"} }

// family is a line of machines with the same memory for each core.
type family struct {
	name         string
	architecture string
	gibPerCore   int64
	corePrice    model.Money // on demand, in the first zone
	gpus         int64       // for every eight cores
}

func families() []family {
	return []family{
		{name: "compute", architecture: "amd64", gibPerCore: 2, corePrice: 42_500},
		{name: "general", architecture: "amd64", gibPerCore: 4, corePrice: 48_000},
		{name: "memory", architecture: "amd64", gibPerCore: 8, corePrice: 63_000},
		{name: "general-arm", architecture: "arm64", gibPerCore: 4, corePrice: 38_500},
		{name: "gpu", architecture: "amd64", gibPerCore: 8, corePrice: 150_000, gpus: 1},
	}
}

// GPU is the extended resource of the machines that have some.
const GPU = "memory.tenon.dev/gpu"

// ReservationID is the one reservation in Sample: four machines of type general-4.
const ReservationID = "reservation-1"

const (
	gibi          = int64(1) << 30
	reservedCount = 4
	spotPercent   = 35
)

// Sample is a small catalogue of every kind of thing that can be bought: two
// architectures, five families in up to six sizes, three zones at slightly different
// prices, on-demand and spot, and a reservation.
func Sample() *catalog.Catalog {
	out := &catalog.Catalog{}
	for _, f := range families() {
		for _, cores := range []int64{1, 2, 4, 8, 16, 32} {
			if f.gpus > 0 && cores < 8 {
				continue
			}
			out.Types = append(out.Types, f.sized(cores))
		}
	}
	return out
}

func (f family) sized(cores int64) catalog.Type {
	t := catalog.Type{
		Name: fmt.Sprintf("%s-%d", f.name, cores),
		Capacity: model.NewResources(
			model.Amount{Name: model.CPU, Value: 1000 * cores},
			model.Amount{Name: model.Memory, Value: f.gibPerCore * cores * gibi},
			model.Amount{Name: model.EphemeralStorage, Value: 100 * gibi},
			model.Amount{Name: model.Pods, Value: min(110, 30*cores)},
			model.Amount{Name: GPU, Value: f.gpus * cores / 8},
		),
		Overhead: model.Resources{CPU: 60 + 10*cores, Memory: 3 * gibi / 10},
	}
	reserved := t.Name == "general-4"
	t.Requirements = f.requirements(t.Name, cores, reserved)
	for i, zone := range Zones() {
		onDemand := f.corePrice * model.Money(cores) * model.Money(100+i) / 100
		t.Offerings = append(t.Offerings,
			unreserved(zone, catalog.OnDemand, onDemand),
			unreserved(zone, catalog.Spot, onDemand*spotPercent/100))
	}
	if reserved {
		t.Offerings = append(t.Offerings, reservation(Zones()[0]))
	}
	return t
}

// requirements define every label that the description calls well-known, but for the
// pool's name, which is not the machine's.
func (f family) requirements(name string, cores int64, reserved bool) requirement.Set {
	ways, reservation := []string{catalog.OnDemand, catalog.Spot}, requirement.New(LabelReservation, requirement.DoesNotExist)
	if reserved {
		ways, reservation = append(ways, catalog.Reserved), is(LabelReservation, ReservationID)
	}
	return requirement.NewSet(
		is(requirement.KeyInstanceType, name),
		is(requirement.KeyArch, f.architecture),
		is(requirement.KeyOS, "linux"),
		is(requirement.KeyRegion, Region),
		is(requirement.KeyZone, Zones()...),
		is(requirement.KeyCapacityType, ways...),
		requirement.New(requirement.KeyWindowsBuild, requirement.DoesNotExist),
		is(LabelFamily, f.name),
		is(LabelCPU, strconv.FormatInt(cores, 10)),
		reservation,
	)
}

func unreserved(zone, capacityType string, price model.Money) catalog.Offering {
	return catalog.Offering{
		Zone: zone, CapacityType: capacityType, Price: price, Available: true,
		Extra: requirement.NewSet(requirement.New(LabelReservation, requirement.DoesNotExist)),
	}
}

// reservation is paid for already, so it costs next to nothing more.
func reservation(zone string) catalog.Offering {
	return catalog.Offering{
		Zone: zone, CapacityType: catalog.Reserved, Price: 1, Available: true,
		ReservationID: ReservationID, ReservationCapacity: reservedCount,
		Extra: requirement.NewSet(is(LabelReservation, ReservationID)),
	}
}

func is(key string, values ...string) requirement.Requirement {
	return requirement.New(key, requirement.In, values...)
}
