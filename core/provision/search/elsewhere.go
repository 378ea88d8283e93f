package search

import (
	"tenon/core/pack"
	"tenon/core/reason"
	"tenon/core/shape"
)

// rounds bounds how often pods that found no node in their domain are sent elsewhere.
const rounds = 8

// assign gives pods domains, and returns the lots to pack.
func (a *Draft) assign(counts []int) []pack.Lot {
	portions, failures := a.assigner.Assign(counts)
	for _, f := range failures {
		a.Why[f.Shape] = f.Reason
	}
	lots := make([]pack.Lot, len(portions))
	for i, p := range portions {
		lots[i] = pack.Lot{Shape: p.Shape, Pins: p.Pins, Count: p.Count}
	}
	a.Portions = append(a.Portions, portions...)
	return lots
}

// sendElsewhere withdraws pods that found no node in the domains that they were told,
// and tells them others.
func (a *Draft) sendElsewhere() bool {
	counts := make([]int, len(a.Set.Shapes))
	if !a.withdrawLeft(counts) {
		return false
	}
	lots := a.assign(counts)
	if len(lots) == 0 {
		return false
	}
	a.packer.Add(lots)
	return true
}

// withdrawLeft takes back the pods that were told a domain and found no node there, and
// adds them to the counts by shape.
func (a *Draft) withdrawLeft(counts []int) (any bool) {
	for i, portion := range a.Portions {
		lot := pack.LotIndex(i) // portions and lots are in one order
		left := a.packer.Left(lot)
		if left == 0 || len(portion.Pins) == 0 {
			continue
		}
		a.assigner.Withdraw(portion, left)
		a.packer.Drop(lot)
		counts[portion.Shape] += left
		any = true
	}
	return any
}

// withdrawBroken takes back pods whose rules do not hold after all, because others found
// no place where they would have evened a spread out or been partners. It reports whether there were any.
func (a *Draft) withdrawBroken() (any bool) {
	for again := true; again; {
		again = false
		for i, portion := range a.Portions {
			lot := pack.LotIndex(i)
			placed := a.packer.Placed(lot)
			if placed == 0 || !a.assigner.Broken(portion) && !a.packer.LacksPartners(lot) {
				continue
			}
			a.packer.Evict(lot)
			a.assigner.Withdraw(portion, placed)
			a.packer.Drop(lot)
			a.Why[portion.Shape] = brokenRule(&a.Set.Shapes[portion.Shape])
			again, any = true, true
		}
	}
	return any
}

func brokenRule(s *shape.Shape) reason.Reason {
	if len(s.Rules.Needs)+len(s.Rules.HostNeeds) > 0 {
		return reason.Reason{Code: reason.Affinity}
	}
	return reason.Reason{Code: reason.Spread}
}
