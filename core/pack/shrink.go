package pack

import "tenon/core/bitset"

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
	trial := &bin{host: -1, machine: o.machine, slot: o.slot}
	for _, t := range b.content {
		l := &p.lots[t.lot]
		alternative := p.alternative(trial, l)
		if alternative < 0 || mostByPorts(p.sp.Machines[o.machine].Ports, l.shape.Ports) == 0 {
			return false
		}
		if open := l.alternatives[alternative].Open[p.sp.Machines[o.machine].Pool]; open != nil {
			trial.open, trial.hasOpen = trial.open.Intersect(*open), true
		}
	}
	p.steps += int64(len(b.content))
	return p.staysVaried(b, o.machine, o.slot)
}

// staysVaried reports whether the bin's pods leave enough different machines when it is planned as
// another machine.
func (p *packer) staysVaried(b *bin, machine, slot int) bool {
	pool := p.sp.Machines[machine].Pool
	if len(p.minimums[pool]) == 0 {
		return true
	}
	moved := &bin{host: -1, machine: machine, slot: slot, load: b.load}
	options, slots := bitset.Full(len(p.sp.Machines)), bitset.Full(len(p.sp.Slots))
	for _, t := range b.content {
		places := p.lots[t.lot].alternatives[t.alternative]
		options.Keep(places.Machines)
		slots.Keep(places.Slots)
	}
	return p.varied(moved, options, slots, make([]int64, len(b.load)), 0)
}

// moved returns a new bin of the offer with the content of b.
func (p *packer) moved(b *bin, o *offer) *bin {
	content := b.content
	p.unload(b)
	out := p.newBin(o.machine, o.slot)
	out.sealed = b.sealed
	for _, t := range content {
		p.put(out, t.lot, t.n, p.alternative(out, &p.lots[t.lot]))
	}
	return out
}
