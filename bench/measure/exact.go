package measure

import (
	corev1 "k8s.io/api/core/v1"

	"tenon/bench/corpus"
	"tenon/core/bound"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// unconstrained returns the packing problem of a case whose pods have no rules and whose only pool
// has requirements on types and offerings alone.
func unconstrained(c corpus.Case) bound.Problem {
	bins := undominated(allBins(c))
	everywhere := make([]uint64, (len(bins)+63)/64)
	for i := range bins {
		everywhere[i/64] |= 1 << (i % 64)
	}
	p := bound.Problem{Bins: bins}
	index := map[[2]int64]int{}
	for _, pod := range c.Pods {
		r := pod.Spec.Containers[0].Resources.Requests
		size := [2]int64{r.Cpu().MilliValue(), r.Memory().Value()}
		i, known := index[size]
		if !known {
			i = len(p.Items)
			index[size] = i
			p.Items = append(p.Items, bound.Item{Need: []int64{size[0], size[1], 1}, Bins: everywhere})
		}
		p.Items[i].Count++
	}
	return p
}

// allBins returns the types that the pool allows, each at its cheapest offering.
func allBins(c corpus.Case) []bound.Bin {
	var bins []bound.Bin
	want := requirement.Set{}
	for _, r := range c.Pools[0].Spec.Template.Spec.Requirements {
		want = want.With(requirement.New(r.Key, requirement.Operator(r.Operator), r.Values...))
	}
	for i := range c.Catalog.Types {
		t := &c.Catalog.Types[i]
		if best := cheapest(t, want); best != nil {
			room := t.Allocatable(best)
			bins = append(bins, bound.Bin{Room: []int64{room.CPU, room.Memory, room.Pods}, Price: int64(best.Price), Stock: -1})
		}
	}
	return bins
}

func cheapest(t *catalog.Type, want requirement.Set) *catalog.Offering {
	for r := range want.All() {
		if !r.Intersects(t.Requirements.Get(r.Key())) {
			return nil
		}
	}
	var best *catalog.Offering
	for i := range t.Offerings {
		o := &t.Offerings[i]
		allowed := want.Get(requirement.KeyCapacityType).Has(o.CapacityType) && want.Get(corev1.LabelTopologyZone).Has(o.Zone)
		if o.Available && allowed && (best == nil || o.Price < best.Price) {
			best = o
		}
	}
	return best
}

// undominated leaves out each bin that another bin beats: one that costs no more and has at least
// as much room.
func undominated(bins []bound.Bin) []bound.Bin {
	var out []bound.Bin
	for i, b := range bins {
		beaten := false
		for j, o := range bins {
			if i != j && o.Price <= b.Price && covers(o.Room, b.Room) && (o.Price < b.Price || !covers(b.Room, o.Room) || j < i) {
				beaten = true
				break
			}
		}
		if !beaten {
			out = append(out, b)
		}
	}
	return out
}

func covers(a, b []int64) bool {
	for d := range a {
		if a[d] < b[d] {
			return false
		}
	}
	return true
}
