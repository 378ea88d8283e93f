package pack

import (
	"tenon/core/bitset"
	"tenon/core/feasible"
)

// shrink moves the content of a new bin, which is not opened yet, to the cheapest offer
// that holds it all.
func (p *packer) shrink(b *bin) *bin {
	for i := range p.offers {
		o := &p.offers[i]
		if o.price >= b.price {
			break
		}
		if p.offered(o) && p.holds(o, b) {
			return p.moved(b, o)
		}
	}
	return b
}

// holds reports whether the offer could take the whole content of the bin.
func (p *packer) holds(o *offer, b *bin) bool {
	if !covers(o.room, b.load) {
		return false
	}
	trial := &bin{host: -1, machine: o.machine, slot: o.slot, load: b.load}
	among := p.scratch.places[:0]
	for _, t := range b.content {
		l := &p.lots[t.lot]
		alternative := p.alternativeLike(trial, l, t.alternative)
		if alternative < 0 || mostByPorts(p.sp.Machines[o.machine].Ports, l.shape.Ports) == 0 {
			return false
		}
		places := l.alternatives[alternative]
		if open := places.Open[p.sp.Machines[o.machine].Pool]; open != nil {
			trial.open, trial.hasOpen = trial.open.Intersect(*open), true
		}
		among = append(among, places)
	}
	p.scratch.places = among
	p.steps += int64(len(b.content))
	return p.staysVaried(trial, among)
}

// staysVaried reports whether the places of a new bin's pods leave enough different machines.
func (p *packer) staysVaried(b *bin, among []*feasible.Places) bool {
	if len(p.minimums[p.sp.Machines[b.machine].Pool]) == 0 {
		return true
	}
	options, slots := bitset.Full(len(p.sp.Machines)), bitset.Full(len(p.sp.Slots))
	for _, places := range among {
		options.Keep(places.Machines)
		slots.Keep(places.Slots)
	}
	return p.varied(b, options, slots, make([]int64, len(b.load)), 0)
}

// moved returns a new bin of the offer with the content of b.
func (p *packer) moved(b *bin, o *offer) *bin {
	content := b.content
	p.unload(b)
	out := p.newBin(o.machine, o.slot)
	out.sealed = b.sealed
	for _, t := range content {
		p.put(out, t.lot, t.n, p.alternativeLike(out, &p.lots[t.lot], t.alternative))
	}
	return out
}
