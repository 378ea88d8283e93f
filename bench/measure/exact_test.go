package measure

import (
	"testing"

	"tenon/bench/corpus"
	"tenon/core/bound"
)

// A single pod costs what the cheapest type that holds it costs.
func TestOnePodCostsTheCheapestType(t *testing.T) {
	t.Parallel()
	for _, catalogue := range smallCatalogues() {
		for seed := range int64(20) {
			c := catalogue.draw(corpus.Generic, 1, seed)
			got, ok := bound.Exact(unconstrained(c), exactSteps)
			if want := cheapestFor(c); !ok || got != want {
				t.Errorf("%s, seed %d: %d (%v), want %d", catalogue.name, seed, got, ok, want)
			}
		}
	}
}

// cheapestFor looks at every offering of every type.
func cheapestFor(c corpus.Case) int64 {
	basic := len(c.Pools[0].Spec.Template.Spec.Requirements) > 0
	need := c.Pods[0].Spec.Containers[0].Resources.Requests
	best := int64(0)
	for i := range c.Catalog.Types {
		t := &c.Catalog.Types[i]
		category := t.Requirements.Get("karpenter.k8s.aws/instance-category")
		if basic && (!category.Has("c") && !category.Has("m") && !category.Has("r") || !newer(t.Requirements.Get("karpenter.k8s.aws/instance-generation").Has)) {
			continue
		}
		for j := range t.Offerings {
			o := &t.Offerings[j]
			room := t.Allocatable(o)
			fits := need.Cpu().MilliValue() <= room.CPU && need.Memory().Value() <= room.Memory && room.Pods >= 1
			if fits && o.Available && (!basic || o.CapacityType == "on-demand") && (best == 0 || int64(o.Price) < best) {
				best = int64(o.Price)
			}
		}
	}
	return best
}

func newer(has func(string) bool) bool { return has("6") || has("7") || has("8") || has("9") }

func TestUndominatedKeepsOneOfEqualBins(t *testing.T) {
	t.Parallel()
	bin := func(price int64, room ...int64) bound.Bin { return bound.Bin{Room: room, Price: price, Stock: -1} }
	got := undominated([]bound.Bin{bin(5, 2, 2), bin(5, 2, 2), bin(6, 2, 2), bin(4, 1, 3), bin(5, 1, 2)})
	if len(got) != 2 || got[0].Price != 5 || got[1].Price != 4 {
		t.Errorf("kept %v, want one of the first and the fourth", got)
	}
}
