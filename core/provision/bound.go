package provision

import (
	"tenon/core/model"
	"tenon/core/pack"
)

// lowerBound is proven: no fleet that places the same pods, on top of the same existing
// nodes and by the same rules for nodes, costs less.
func (d *decision) lowerBound(a *attempt) model.Money {
	if !a.short {
		if price, steps, ok := a.packer.Bound(proving(a)); ok {
			d.steps += steps
			return price
		}
	}
	lots := make([]pack.Lot, 0, len(a.set.Shapes))
	for i := range a.set.Shapes {
		if n := len(a.set.Shapes[i].Pods) - a.left[i]; n > 0 {
			lots = append(lots, pack.Lot{Shape: i, Count: n})
		}
	}
	if len(a.result.New) == 0 {
		return 0
	}
	price, steps := pack.LowerBound(a.set, lots, d.effort/4)
	d.steps += steps
	return price
}

// sharpPods is up to how many pods the proof is worth as much effort as half the packing.
const sharpPods = 8000

// proving is the effort that may go into raising the bound.
func proving(a *attempt) int64 {
	if pods(a.set) > sharpPods {
		return 0
	}
	return FullEffort / 2
}
