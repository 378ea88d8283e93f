package pack

import (
	"cmp"
	"slices"

	"tenon/core/bound"
)

// openWhole opens each pattern as often as it is used in whole, dear ones first.
func (p *packer) openWhole(r relaxation) int {
	patterns := slices.Clone(r.Patterns)
	slices.SortStableFunc(patterns, func(a, b bound.Pattern) int {
		return cmp.Compare(r.offers[b.Bin].price, r.offers[a.Bin].price)
	})
	total := 0
	for _, pattern := range patterns {
		for n := int(pattern.Amount + 1e-6); n > 0; {
			opened := p.openPattern(&r.offers[pattern.Bin], pattern, n)
			if opened == 0 {
				break
			}
			n -= opened
			total += opened
		}
	}
	return total
}

// openMost opens one bin of the pattern that is used most; of equals, it takes the larger.
func (p *packer) openMost(r relaxation) int {
	if len(r.Patterns) == 0 {
		return 0
	}
	most := slices.MaxFunc(r.Patterns, func(a, b bound.Pattern) int {
		return cmp.Or(cmp.Compare(a.Amount, b.Amount), cmp.Compare(r.offers[a.Bin].price, r.offers[b.Bin].price))
	})
	return p.openPattern(&r.offers[most.Bin], most, 1)
}

// openPattern opens a bin with the pods of a pattern, and up to n-1 copies of it where
// its pods are free to be copied. It returns how many were opened.
func (p *packer) openPattern(o *offer, pattern bound.Pattern, n int) int {
	kinds := p.waitingKinds()
	slot := p.busiestSlot(o, pattern, kinds)
	if slot < 0 || !p.available(o.machine, slot) {
		return 0
	}
	b := p.newBin(o.machine, slot)
	for _, share := range pattern.Counts {
		p.putItem(b, kinds, int(share.Item), int(share.Count))
	}
	if len(b.content) == 0 {
		return 0
	}
	p.fill(b, p.sitesOf(b))
	b = p.shrink(b)
	p.open(b)
	return 1 + p.copies(b, n-1)
}

// busiestSlot returns the slot, among those at the offer's price, where most of the pattern's pods
// are waiting; kinds are those that wait.
func (p *packer) busiestSlot(o *offer, pattern bound.Pattern, kinds []kindIndex) int {
	m := &p.sp.Machines[o.machine]
	best, bestWaiting := -1, 0
	for s := range m.Slots.All {
		if p.cost(o.machine, s) > o.price {
			continue
		}
		waiting := 0
		for _, share := range pattern.Counts {
			for _, k := range kinds {
				kind := &p.kinds[k]
				if kind.item == int(share.Item) && p.sites[kind.site].allows(o.machine, s) {
					waiting += min(kind.left, int(share.Count)*1000)
				}
			}
		}
		if waiting > bestWaiting {
			best, bestWaiting = s, waiting
		}
	}
	return best
}

// putItem places n pods of an item of the relaxation, of any of the kinds.
func (p *packer) putItem(b *bin, kinds []kindIndex, item, n int) {
	for _, k := range kinds {
		kind := &p.kinds[k]
		if n == 0 {
			return
		}
		if kind.item != item || kind.left == 0 || b.host < 0 && !p.sites[kind.site].allows(b.machine, b.slot) {
			continue
		}
		n -= p.putKind(b, k, min(n, kind.left))
	}
}

// copies opens up to n bins like b, while its lots last. Pods that meet rules on their
// node are never copied: each bin needs its own choice.
func (p *packer) copies(b *bin, n int) int {
	each := map[LotIndex]int{} // a lot may be there by several alternatives
	for _, t := range b.content {
		if !p.lots[t.lot].free {
			return 0
		}
		each[t.lot] += t.n
		n = min(n, p.lots[t.lot].Count/each[t.lot])
	}
	opened := 0
	for ; opened < n && p.available(b.machine, b.slot); opened++ {
		c := p.newBin(b.machine, b.slot)
		for _, t := range b.content {
			p.put(c, t.lot, t.n, t.alternative)
		}
		p.open(c)
	}
	return opened
}
