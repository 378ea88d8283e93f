package search

import (
	"slices"

	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/topology"
)

// LowerBound is proven: no fleet that places the same pods, beside the same existing nodes and by the same
// rules, costs less. There is no bound if a pod has no place but might have one.
func (d *Search) LowerBound(a *Draft) model.Money {
	if d.Unproven || a.mayHavePlace() {
		return 0
	}
	least := d.boundOfNodes(a)
	if float64(a.Result.Price) > float64(least)*closelyProven && pods(a.Set) <= sharpPods && len(a.Set.Shapes) <= sharpShapes {
		least = max(least, d.boundOfRules(a))
	}
	return least
}

// mayHavePlace reports whether a pod has no place that might find its partners on some node:
// pods that need each other are packed as a unit, and not every way of it is tried.
func (a *Draft) mayHavePlace() bool {
	for i := range a.Set.Shapes {
		hard := func(n topology.Need[topology.HostGroup]) bool { return !n.Soft }
		if a.Left[i] > 0 && slices.ContainsFunc(a.Set.Shapes[i].Rules.HostNeeds, hard) && a.packer.MayArrive(i) {
			return true
		}
	}
	return false
}

// If the bound is this close to the price, more rules are not needed. With more shapes than sharpShapes,
// they are not worth their effort.
const (
	closelyProven = 1.005
	sharpShapes   = 200
)

// boundOfRules knows what boundOfNodes does not: the order of pools, limits, and the domains
// that spreads and anti-affinity need.
func (d *Search) boundOfRules(a *Draft) model.Money {
	proof := pack.Proof{Set: a.Set, Tiers: d.Tiers, Limits: d.Limits}
	for i := range a.Set.Shapes {
		if n := len(a.Set.Shapes[i].Pods) - a.Left[i]; n > 0 {
			force(&proof, i, n, a.assigner.Forces(i, n))
		}
	}
	if len(proof.Needed) == 0 && len(d.Tiers) < 2 && !d.Limited() {
		return 0
	}
	price, steps := pack.Prove(proof, d.Effort/4)
	d.Steps += steps
	return price
}

// force adds n pods of a shape and what rules force on them. It pins pods on one key: the one that forces
// the most pods into each domain.
func force(proof *pack.Proof, shape, n int, forces []topology.Force) {
	best := topology.Force{}
	for _, f := range forces {
		if f.Least > best.Least {
			best = f
		}
		if f.Least == 0 && f.Width > 1 {
			proof.Needed = append(proof.Needed, pack.Needed{Rule: len(proof.Needed), Shape: shape, Count: f.Width})
		}
	}
	rule := len(proof.Needed)
	for _, domain := range best.Domains {
		pins := []topology.Pin{{Key: best.Key, Values: []string{domain}}}
		proof.Needed = append(proof.Needed, pack.Needed{Rule: rule, Shape: shape, Pins: pins, Count: 1})
		proof.Lots = append(proof.Lots, pack.Lot{Shape: shape, Pins: pins, Count: best.Least})
		n -= best.Least
	}
	if n > 0 {
		proof.Lots = append(proof.Lots, pack.Lot{Shape: shape, Count: n})
	}
}

// boundOfNodes knows the rules of single nodes: room, labels, taints, and how many pods of a
// group a node may hold.
func (d *Search) boundOfNodes(a *Draft) model.Money {
	if !a.Short {
		if price, steps, ok := a.packer.Bound(proving(a)); ok {
			d.Steps += steps
			return price
		}
	}
	lots := make([]pack.Lot, 0, len(a.Set.Shapes))
	for i := range a.Set.Shapes {
		if n := len(a.Set.Shapes[i].Pods) - a.Left[i]; n > 0 {
			lots = append(lots, pack.Lot{Shape: i, Count: n})
		}
	}
	if len(a.Result.New) == 0 {
		return 0
	}
	price, steps := pack.LowerBound(a.Set, lots, d.Effort/4)
	d.Steps += steps
	return price
}

// sharpPods is the number of pods up to which the proof may cost half as much as the packing.
const sharpPods = 8000

// proving is the effort that may go into raising the bound.
func proving(a *Draft) int64 {
	if pods(a.Set) > sharpPods {
		return 0
	}
	return FullEffort / 2
}
