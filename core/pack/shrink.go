package pack

// shrink moves the content of a new bin, which is not opened yet, to the cheapest offer
// that holds it all.
func (p *packer) shrink(b *bin) *bin {
	for i := range p.offers {
		o := &p.offers[i]
		if o.price >= b.price {
			break
		}
		if p.available(o.machine, o.slot) && p.holds(o, b) {
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
	return true
}

// moved is a new bin of the offer with the content of b.
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
