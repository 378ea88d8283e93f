package pack

import (
	"cmp"
	"slices"

	"tenon/core/topology"
)

// Some pods need others on their own node (pod affinity by hostname). Pods arrive one after the
// other, so one of them either needs partners that are there already or has to be the first of its
// group. The packer puts pods that must share a node there as a unit, in an order in which each of
// them may arrive: bring adds the pods that one pod needs before it, and gather adds the rest of
// those that are tied to it.

// dependent returns the lots that have pods left and need partners on their node.
func (p *packer) dependent() []LotIndex {
	var out []LotIndex
	for at := range LotIndex(len(p.lots)) {
		if l := &p.lots[at]; l.Count > 0 && len(l.shape.Rules.HostNeeds) > 0 {
			out = append(out, at)
		}
	}
	return out
}

// dependentOnHosts places units that existing nodes hold, before other pods fill the room. A unit
// that a new node may hold in whole waits for one, unless no node is to be bought.
func (p *packer) dependentOnHosts() {
	if len(p.hosts) == 0 {
		return
	}
	p.placeDependent(nil, len(p.tiers) > 0)
	for _, b := range p.hosts {
		if b.sealed {
			b.partners = slices.Clone(b.content)
		}
	}
}

// placeDependent places the lots that need partners, on nodes of some offers too. A patient run
// leaves incomplete units that begin a group alone.
func (p *packer) placeDependent(offers []offer, patient bool) {
	p.joinPartners()
	for _, at := range p.dependent() {
		for p.lots[at].Count > 0 && p.beginGroup(at, offers, patient) {
		}
	}
}

// joinPartners puts pods where their partners are already, until no more find theirs.
func (p *packer) joinPartners() {
	for again := true; again; {
		again = false
		for _, at := range p.dependent() {
			again = p.join(at) || again
		}
	}
}

// join puts pods of a lot on nodes with their partners, the nodes that hold most first.
func (p *packer) join(at LotIndex) bool {
	l := &p.lots[at]
	type node struct {
		b *bin
		n int
	}
	var nodes []node
	for _, b := range slices.Concat(p.hosts, p.bins) {
		if n, _ := p.most(b, l, l.Count); n > 0 {
			nodes = append(nodes, node{b, n})
		}
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return cmp.Compare(b.n, a.n) })
	for _, h := range nodes {
		if n, alternative := p.most(h.b, l, l.Count); n > 0 {
			p.put(h.b, at, n, alternative)
		}
	}
	return len(nodes) > 0
}

// beginGroup puts a unit with a pod of the lot on the node that holds most of the unit: an
// existing one, or else the cheapest new one.
func (p *packer) beginGroup(at LotIndex, offers []offer, patient bool) bool {
	tied := p.tied(at)
	best, most := p.hostFor(at, tied, patient)
	if b := p.offerFor(at, tied, offers, most); b != nil {
		best = p.newBin(b.machine, b.slot)
	}
	if best == nil {
		return false
	}
	p.bring(best, at, map[LotIndex]bool{})
	p.gather(best, tied)
	best.sealed = true
	if best.host < 0 {
		p.open(best)
	}
	return true
}

// hostFor finds the existing node that holds most of a unit, and how much it holds. A patient unit
// accepts only a node that holds all of it or that has partners already.
func (p *packer) hostFor(at LotIndex, tied []LotIndex, patient bool) (best *bin, most int) {
	all := p.counts(tied)
	for _, b := range p.hosts {
		if p.atMost(b, at, tied) <= most {
			continue
		}
		n, begins := p.tryUnit(b, at, tied)
		if n > 0 && (n >= all || !begins) {
			return b, all
		}
		if n > most && !patient {
			best, most = b, n
		}
	}
	return best, most
}

// offerFor returns a bin of the offer that holds most pods of a unit, if it holds more than most,
// or else nil.
func (p *packer) offerFor(at LotIndex, tied []LotIndex, offers []offer, most int) (best *bin) {
	all := p.counts(tied)
	for i := range offers {
		if most >= all {
			break
		}
		o := &offers[i]
		if !p.offered(o) || !o.sites.Has(p.kinds[p.lots[at].kind].site) {
			continue
		}
		b := p.newBin(o.machine, o.slot)
		if p.atMost(b, at, tied) <= most {
			continue
		}
		if n, _ := p.tryUnit(b, at, tied); n > most {
			best, most = b, n
		}
	}
	return best
}

// tied returns the dependent lots that affinity ties to a lot, directly or through others, and the
// lot itself.
func (p *packer) tied(at LotIndex) []LotIndex {
	out := []LotIndex{at}
	rest := slices.DeleteFunc(p.dependent(), func(i LotIndex) bool { return i == at })
	for next := 0; next < len(out); next++ {
		r := &p.lots[out[next]].shape.Rules
		rest = slices.DeleteFunc(rest, func(i LotIndex) bool {
			other := &p.lots[i].shape.Rules
			if needs(r, other) || needs(other, r) {
				out = append(out, i)
				return true
			}
			return false
		})
	}
	slices.Sort(out)
	return out
}

// needs reports whether pods with the rules count the others as partners.
func needs(r, others *topology.Rules) bool {
	return slices.ContainsFunc(r.HostNeeds, func(n topology.Need[topology.HostGroup]) bool {
		_, ok := slices.BinarySearch(others.HostCounts, n.Group)
		return ok
	})
}

// atMost bounds, by size alone, how many pods of the tied lots a bin may hold; it is zero
// where it has no room for a pod of the lot.
func (p *packer) atMost(b *bin, at LotIndex, tied []LotIndex) int {
	if mostBySize(p.lots[at].shape.Need, b.room, 1) == 0 {
		return 0
	}
	n := 0
	for _, i := range tied {
		n += mostBySize(p.lots[i].shape.Need, b.room, p.lots[i].Count)
	}
	return n
}

// tryUnit counts how many pods of the tied lots a bin takes with a unit of the lot, and
// tells whether one of them begins a group. It leaves everything as it was.
func (p *packer) tryUnit(b *bin, at LotIndex, tied []LotIndex) (pods int, begins bool) {
	content, before := slices.Clone(b.content), p.counts(tied)
	begins, ok := p.bring(b, at, map[LotIndex]bool{})
	if ok {
		p.gather(b, tied)
		pods = before - p.counts(tied)
	}
	p.restore(b, content)
	p.steps += int64(len(tied))
	return pods, begins
}

func (p *packer) counts(lots []LotIndex) int {
	n := 0
	for _, at := range lots {
		n += p.lots[at].Count
	}
	return n
}

// restore gives a bin an earlier content back.
func (p *packer) restore(b *bin, content []taken) {
	if slices.Equal(b.content, content) {
		return
	}
	b.sealed = len(b.partners) > 0
	p.rebuild(b, func(taken) bool { return false })
	p.refill(b, content)
}

// bring puts a pod of a lot on a bin, after one pod of each lot that it needs there and that is
// missing. It tells whether some pod begins its group. It does not try a lot twice.
func (p *packer) bring(b *bin, at LotIndex, tried map[LotIndex]bool) (begins, ok bool) {
	l := &p.lots[at]
	if l.Count == 0 || tried[at] {
		return false, false
	}
	tried[at] = true
	content := slices.Clone(b.content)
	for _, need := range l.shape.Rules.HostNeeds {
		if b.has(need.Group) {
			continue
		}
		if p.mayBegin(at, need) {
			begins = true
			continue
		}
		began, found := p.bringOneOf(b, need.Group, tried)
		if !found {
			p.restore(b, content)
			return false, false
		}
		begins = begins || began
	}
	n, alternative := p.fits(b, l, 1)
	if n == 0 {
		p.restore(b, content)
		return false, false
	}
	p.put(b, at, 1, alternative)
	return begins, true
}

// bringOneOf brings one pod of a group, with the pods that it needs itself. It prefers a pod that
// needs none.
func (p *packer) bringOneOf(b *bin, group topology.HostGroup, tried map[LotIndex]bool) (begins, ok bool) {
	for _, dependent := range []bool{false, true} {
		for at := range LotIndex(len(p.lots)) {
			r := &p.lots[at].shape.Rules
			if _, counted := slices.BinarySearch(r.HostCounts, group); !counted || dependent != (len(r.HostNeeds) > 0) {
				continue
			}
			if begins, ok = p.bring(b, at, tried); ok {
				return begins, true
			}
		}
	}
	return false, false
}

// gather puts pods of the tied lots on a bin with their partners: first one of each, then as
// many as there is room for.
func (p *packer) gather(b *bin, tied []LotIndex) {
	for _, each := range []int{1, int(noLimit)} {
		for again := true; again; {
			again = false
			for _, at := range tied {
				l := &p.lots[at]
				if each == 1 && b.holds(at) {
					continue
				}
				if n, alternative := p.most(b, l, min(each, l.Count)); n > 0 {
					p.put(b, at, n, alternative)
					again = true
				}
			}
		}
	}
}

func (b *bin) holds(lot LotIndex) bool {
	return slices.ContainsFunc(b.content, func(t taken) bool { return t.lot == lot })
}

// has reports whether a pod of the host group is on the bin.
func (b *bin) has(group topology.HostGroup) bool {
	t := b.tally(group)
	return t != nil && t.n > 0
}
