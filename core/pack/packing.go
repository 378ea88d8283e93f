package pack

import (
	"slices"

	"tenon/core/bitset"
	"tenon/core/feasible"
)

// open takes a new bin, and charges limits and reservations for it.
func (p *packer) open(b *bin) {
	p.charge(b)
	p.bins = append(p.bins, b)
}

func (p *packer) charge(b *bin) {
	m := &p.sp.Machines[b.machine]
	p.take(m, 1)
	if m.Stock[b.slot] >= 0 {
		p.reserved[p.sp.Slots[b.slot].Reservation]++
	}
}

// release gives back what charge took. The caller removes the bin from the list.
func (p *packer) release(b *bin) {
	m := &p.sp.Machines[b.machine]
	p.take(m, -1)
	if m.Stock[b.slot] >= 0 {
		p.reserved[p.sp.Slots[b.slot].Reservation]--
	}
}

// take subtracts n machines from what may still be launched.
func (p *packer) take(m *feasible.Machine, n int64) {
	p.limits[m.Pool] = p.limits[m.Pool].after(m.Capacity, n)
	shared := len(p.sp.Snapshot.Settings.Limits)
	if shared == 0 {
		return
	}
	for pool := range p.limits {
		if pool != int(m.Pool) {
			p.limits[pool] = p.limits[pool].without(m.Capacity, n, shared)
		}
	}
}

// available reports whether the machine can be opened in the slot now.
func (p *packer) available(m, slot int) bool { return p.openable(m) && p.inStock(m, slot) }

// unload takes everything off a bin.
func (p *packer) unload(b *bin) {
	for _, t := range b.content {
		l := &p.lots[t.lot]
		l.Count += t.n
		p.kinds[l.kind].left += t.n
		for _, g := range l.shape.Rules.HostCounts {
			p.groupTotal[g] -= t.n
		}
	}
	b.content = nil
}

// evict takes a lot's pods off their bins, and gives back each bin that is then empty.
func (p *packer) evict(lot LotIndex) {
	for _, b := range slices.Concat(p.hosts, p.bins) {
		if slices.ContainsFunc(b.content, func(t taken) bool { return t.lot == lot }) {
			stays := func(t taken) bool { return t.lot != lot }
			p.rebuild(b, stays)
			b.partners = slices.DeleteFunc(b.partners, func(t taken) bool { return !stays(t) })
		}
	}
	p.bins = slices.DeleteFunc(p.bins, func(b *bin) bool {
		if len(b.content) == 0 {
			p.release(b)
			return true
		}
		return false
	})
}

// rebuild puts back the part of a bin's content that is to be kept.
func (p *packer) rebuild(b *bin, keep func(taken) bool) {
	content := b.content
	p.unload(b)
	var fresh *bin
	if b.host >= 0 {
		for _, g := range b.groupsOfHost() {
			p.groupTotal[g.group] -= int(g.n)
		}
		fresh = p.hostBin(b.host)
	} else {
		fresh = p.newBin(b.machine, b.slot)
	}
	fresh.sealed, fresh.partners = b.sealed, b.partners
	*b = *fresh
	for _, t := range content {
		if keep(t) {
			p.put(b, t.lot, t.n, t.alternative)
		}
	}
}

// sitesOf returns the set of sites that may use a bin.
func (p *packer) sitesOf(b *bin) bitset.Set {
	out := bitset.New(len(p.sites))
	for i, s := range p.sites {
		if b.host >= 0 {
			if s.allowsHost(p.sp.Hosts[b.host].Class) {
				out.Put(i)
			}
		} else if s.allows(b.machine, b.slot) {
			out.Put(i)
		}
	}
	return out
}

// waiting reports whether some pod has no place yet.
func (p *packer) waiting() bool {
	for k := range p.kinds {
		if p.kinds[k].left > 0 {
			return true
		}
	}
	return false
}

func (p *packer) countLeft() int {
	n := 0
	for k := range p.kinds {
		n += p.kinds[k].left
	}
	return n
}
