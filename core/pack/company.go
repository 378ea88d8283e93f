package pack

import (
	"cmp"
	"slices"
)

// placeCompany places the lots that need others on their own node (pod affinity by
// hostname), before anything fills the room that they need together.
func (p *packer) placeCompany() {
	for at := range p.lots {
		if len(p.lots[at].shape.Rules.HostNeeds) > 0 {
			p.joinCompany(at)
		}
	}
	for at := range p.lots {
		for p.lots[at].Count > 0 && len(p.lots[at].shape.Rules.HostNeeds) > 0 {
			if !p.foundCompany(at) {
				break
			}
		}
	}
}

// joinCompany puts pods where their company is already, or begins where all of them
// fit together.
func (p *packer) joinCompany(at int) {
	l := &p.lots[at]
	bins := slices.Concat(p.hosts, p.bins)
	slices.SortStableFunc(bins, func(a, b *bin) int {
		x, _ := p.most(a, l, l.Count)
		y, _ := p.most(b, l, l.Count)
		return cmp.Compare(y, x)
	})
	for _, b := range bins {
		if n, alternative := p.most(b, l, l.Count); n > 0 {
			p.put(b, at, n, alternative)
			b.sealed = true
		}
	}
}

// foundCompany opens the cheapest node that holds most of the lot together with the
// pods that it needs.
func (p *packer) foundCompany(at int) bool {
	var best *bin
	bestCount := 0
	for _, o := range p.offersFor([]site{p.lots[at].alternatives}) {
		b := p.newBin(o.machine, o.slot)
		guests := p.guests(b, at)
		if guests == nil && !p.ownCompany(at) {
			continue
		}
		n := p.tryTogether(b, at, guests)
		if n > bestCount {
			best, bestCount = b, n
		}
	}
	if best == nil {
		return false
	}
	for _, guest := range p.guests(best, at) {
		if n, alternative := p.most(best, &p.lots[guest], 1); n > 0 {
			p.put(best, guest, 1, alternative)
		}
	}
	n, alternative := p.most(best, &p.lots[at], p.lots[at].Count)
	if n == 0 { // the guests turned out to be in the way
		p.unload(best)
		return false
	}
	p.put(best, at, n, alternative)
	best.sealed = true
	p.open(best)
	return true
}

func (p *packer) ownCompany(at int) bool {
	for _, need := range p.lots[at].shape.Rules.HostNeeds {
		if !p.mayBegin(need) {
			return false
		}
	}
	return true
}

// guests are lots with a pod to spare that meet the lot's needs on an empty bin.
func (p *packer) guests(b *bin, at int) []int {
	var out []int
	for _, need := range p.lots[at].shape.Rules.HostNeeds {
		if p.mayBegin(need) {
			continue
		}
		guest := -1
		for i := range p.lots {
			l := &p.lots[i]
			if i == at || l.Count == 0 || len(l.shape.Rules.HostNeeds) > 0 || !slices.Contains(l.shape.Rules.HostCounts, need.Group) {
				continue
			}
			if n, _ := p.most(b, l, 1); n > 0 {
				guest = i
				break
			}
		}
		if guest < 0 {
			return nil
		}
		out = append(out, guest)
	}
	return out
}

// tryTogether counts how many of the lot an empty bin holds beside its guests.
func (p *packer) tryTogether(b *bin, at int, guests []int) int {
	room := slices.Clone(b.room)
	for _, guest := range guests {
		for d, want := range p.lots[guest].shape.Need {
			room[d] -= want
		}
	}
	l := &p.lots[at]
	n := mostBySize(l.shape.Need, room, l.Count)
	for _, c := range l.shape.Rules.HostCaps {
		n = min(n, int(c.Max))
	}
	return max(n, 0)
}
