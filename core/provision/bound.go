package provision

import (
	"tenon/core/model"
	"tenon/core/pack"
)

// lowerBound is proven: no fleet that places the same pods, on top of the same existing
// nodes and by the same rules for nodes, costs less.
func (d *decision) lowerBound(a *attempt) model.Money {
	if price, ok := a.packer.Bound(); ok && !a.short {
		return price
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
