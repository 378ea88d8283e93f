package corpus

import (
	"testing"

	"tenon/core/catalog"
	"tenon/core/model"
)

func TestFakeTypes(t *testing.T) {
	t.Parallel()
	types := Fake(400).Types
	if len(types) != 400 {
		t.Fatalf("%d types, want 400", len(types))
	}
	last := types[399]
	if want := (model.Resources{CPU: 400_000, Memory: 800 << 30, Pods: 4000}); !last.Capacity.Equal(want) {
		t.Errorf("capacity of %s is %v, want %v", last.Name, last.Capacity, want)
	}
	if len(last.Offerings) != 5 {
		t.Errorf("%d offerings, want 5", len(last.Offerings))
	}
	for _, o := range types[0].Offerings { // 0.1 for the core, 0.2147483648 for 2 GiB
		if o.Price != 314_748 {
			t.Errorf("%s in %s costs %v, want 0.314748", o.CapacityType, o.Zone, o.Price)
		}
	}
	if room := types[0].Allocatable(&types[0].Offerings[0]); room.CPU != 900 || room.Memory != 2<<30-10<<20 {
		t.Errorf("room is %v, want 900m and 2038Mi", room)
	}
}

func TestKWOKTypes(t *testing.T) {
	t.Parallel()
	types := KWOK().Types
	if len(types) != 144 {
		t.Fatalf("%d types, want 144", len(types))
	}
	for i := range types {
		if len(types[i].Offerings) != 8 {
			t.Fatalf("%s has %d offerings, want 8", types[i].Name, len(types[i].Offerings))
		}
		spot, onDemand := types[i].Offerings[0], types[i].Offerings[1]
		if spot.CapacityType != catalog.Spot || onDemand.CapacityType != catalog.OnDemand {
			t.Fatalf("%s: offerings are %v and %v", types[i].Name, spot, onDemand)
		}
		if d := float64(spot.Price) - 0.7*float64(onDemand.Price); d > 1 || d < -1 {
			t.Errorf("%s: spot costs %v, on-demand %v", types[i].Name, spot.Price, onDemand.Price)
		}
	}
}

func TestEC2HasFourZones(t *testing.T) {
	t.Parallel()
	types, words := EC2()
	zones, offers := map[string]bool{}, 0
	for i := range types.Types {
		for _, o := range types.Types[i].Offerings {
			zones[o.Zone] = true
			offers++
		}
	}
	if len(zones) != 4 || len(types.Types) < 1000 || offers < 8000 || len(words.WellKnown) == 0 {
		t.Errorf("%d types, %d offerings, %d zones, %d words", len(types.Types), offers, len(zones), len(words.WellKnown))
	}
}
