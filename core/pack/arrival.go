package pack

import (
	"slices"

	"tenon/core/topology"
)

// mayBegin reports whether a pod of the lot may be the first of the group that it needs: the group
// has no pod anywhere, and no pod of it that waits for a place can come first.
func (p *packer) mayBegin(at LotIndex, need topology.Need[topology.HostGroup]) bool {
	if !need.Self || p.groupTotal[need.Group] > 0 {
		return false
	}
	key := beginner{at, need.Group}
	first, known := p.first[key]
	if !known {
		first = !topology.Preceded(p.wants(), p.runs, int(at), need.Group)
		p.first[key] = first
	}
	return first
}

// beginner is a lot that may be the first of a group.
type beginner struct {
	lot   LotIndex
	group topology.HostGroup
}

// wants returns what the lots bring and need on their nodes. Dropped pods want nothing.
func (p *packer) wants() []topology.Want[topology.HostGroup] {
	out := make([]topology.Want[topology.HostGroup], len(p.lots))
	for at := range p.lots {
		if l := &p.lots[at]; l.given > l.dropped {
			out[at] = l.shape.Rules.HostWant()
		}
	}
	return out
}

// runs reports whether a pod of the host group is on an existing node.
func (p *packer) runs(group topology.HostGroup) bool { return p.running[group] > 0 }

// LacksPartners reports whether some pod of the lot is on a node without the partners that it
// needs there.
func (k *Packer) LacksPartners(lot LotIndex) bool {
	if len(k.p.lots[lot].shape.Rules.HostNeeds) == 0 {
		return false
	}
	return slices.ContainsFunc(slices.Concat(k.p.hosts, k.p.bins), func(b *bin) bool {
		return b.holds(lot) && !k.p.arrives(b, lot)
	})
}

// arrives reports whether the pods of a lot can come to their bin one after the other, with the
// other pods of the bin.
func (p *packer) arrives(b *bin, lot LotIndex) bool {
	present := map[topology.HostGroup]bool{}
	for _, t := range b.before {
		present[t.group] = t.n > 0
	}
	there := map[LotIndex]bool{}
	for {
		next := p.nextToArrive(b, there, func(_ LotIndex, n topology.Need[topology.HostGroup]) bool { return present[n.Group] })
		if next < 0 {
			next = p.nextToArrive(b, there, func(at LotIndex, n topology.Need[topology.HostGroup]) bool {
				return present[n.Group] || p.began(b, at, n)
			})
		}
		if next < 0 || next == lot {
			return next == lot
		}
		there[next] = true
		for _, g := range p.lots[next].shape.Rules.HostCounts {
			present[g] = true
		}
	}
}

// nextToArrive returns the first lot of a bin's content that is not there yet and whose needs are
// met, or -1.
func (p *packer) nextToArrive(b *bin, there map[LotIndex]bool, met func(at LotIndex, n topology.Need[topology.HostGroup]) bool) LotIndex {
	for _, t := range b.content {
		unmet := func(n topology.Need[topology.HostGroup]) bool { return !n.Soft && !met(t.lot, n) }
		if !there[t.lot] && !slices.ContainsFunc(p.lots[t.lot].shape.Rules.HostNeeds, unmet) {
			return t.lot
		}
	}
	return -1
}

// began reports whether a pod of the lot may have been the first of the group: the whole group is
// on this bin.
func (p *packer) began(b *bin, at LotIndex, need topology.Need[topology.HostGroup]) bool {
	t := b.tally(need.Group)
	if !need.Self || t == nil || int(t.n) < p.groupTotal[need.Group] {
		return false
	}
	return !topology.Preceded(p.wants(), p.runs, int(at), need.Group)
}

// MayArrive reports whether pods of a shape may find their partners on a node at all. If they may,
// a missing place says nothing about where they could be.
func (k *Packer) MayArrive(shape int) bool {
	wants := make([]topology.Want[topology.HostGroup], len(k.p.set.Shapes))
	for i := range wants {
		wants[i] = k.p.set.Shapes[i].Rules.HostWant()
	}
	return topology.Arriving(wants, k.p.runs, topology.Anyone)[shape]
}
