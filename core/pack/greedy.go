package pack

import (
	"cmp"
	"slices"
)

// firstFit is the greedy baseline: pods by cpu, then memory, largest first; each goes to
// the first bin that can still be some machine with room for it, or opens a new one. A
// bin grows until no machine holds more, and takes the cheapest that holds it.
func (p *packer) firstFit() {
	from := len(p.bins)
	var large []*bin
	p.largest = p.offersBySize()
	for _, at := range p.bySize() {
		l := &p.lots[at]
		for _, b := range large {
			if l.Count == 0 {
				break
			}
			if n, alternative := p.most(b, l, l.Count); n > 0 {
				p.put(b, at, n, alternative)
			}
		}
		for l.Count > 0 {
			b := p.largestFor(l)
			if b == nil {
				break
			}
			n, alternative := p.most(b, l, l.Count)
			p.put(b, at, n, alternative)
			p.open(b)
			large = append(large, b)
		}
		p.steps += int64(len(large))
	}
	for i := from; i < len(p.bins); i++ {
		b := p.bins[i]
		p.release(b)
		p.bins[i] = p.shrink(b)
		p.charge(p.bins[i])
	}
}

func (p *packer) bySize() []LotIndex {
	order := make([]LotIndex, len(p.lots))
	for i := range order {
		order[i] = LotIndex(i)
	}
	slices.SortStableFunc(order, func(a, b LotIndex) int {
		x, y := p.lots[a].shape, p.lots[b].shape
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), cmp.Compare(y.Need[0], x.Need[0]), cmp.Compare(y.Need[1], x.Need[1]))
	})
	return order
}

// largestFor opens the machine with most room among those that the lot may have now.
func (p *packer) largestFor(l *lot) *bin {
	for _, i := range p.largest {
		o := &p.offers[i]
		if !o.sites.Has(p.kinds[l.kind].site) || mostBySize(l.shape.Need, o.room, 1) == 0 || !p.available(o.machine, o.slot) {
			continue
		}
		b := p.newBin(o.machine, o.slot)
		if n, _ := p.most(b, l, 1); n == 0 {
			return nil
		}
		return b
	}
	return nil
}

// offersBySize returns the numbers of the offers, those with most room first.
func (p *packer) offersBySize() []int {
	out := p.all()
	slices.SortFunc(out, func(a, b int) int {
		x, y := &p.offers[a], &p.offers[b]
		return cmp.Or(cmp.Compare(y.room[0], x.room[0]), cmp.Compare(y.room[1], x.room[1]), compareOffers(*x, *y))
	})
	return out
}
