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

func (p *packer) bySize() []int {
	order := make([]int, len(p.lots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := p.lots[a].shape, p.lots[b].shape
		return cmp.Or(cmp.Compare(y.Priority, x.Priority), cmp.Compare(y.Need[0], x.Need[0]), cmp.Compare(y.Need[1], x.Need[1]))
	})
	return order
}

// largestFor opens, of the machines that the lot may have now, the one with most room.
func (p *packer) largestFor(l *lot) *bin {
	var best *offer
	for i := range p.offers {
		o := &p.offers[i]
		if !p.available(o.machine, o.slot) || !o.sites.Has(p.kinds[l.kind].site) || mostBySize(l.shape.Need, o.room, 1) == 0 {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(o.room[0], best.room[0]), cmp.Compare(o.room[1], best.room[1]), compareOffers(*best, *o)) > 0 {
			best = o
		}
	}
	if best == nil {
		return nil
	}
	b := p.newBin(best.machine, best.slot)
	if n, _ := p.most(b, l, 1); n == 0 {
		return nil
	}
	return b
}
