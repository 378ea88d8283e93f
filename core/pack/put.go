package pack

import (
	"tenon/core/feasible"
	"tenon/core/snapshot"
)

// put places n pods of the lot. The caller has called most first.
func (p *packer) put(b *bin, at LotIndex, n, alternative int) {
	l := &p.lots[at]
	for i, want := range l.shape.Need {
		b.room[i] -= want * int64(n)
		b.load[i] += want * int64(n)
	}
	b.content = addTaken(b.content, taken{at, n, alternative})
	l.Count -= n
	p.kinds[l.kind].left -= n
	places := l.alternatives[alternative]
	if b.host < 0 {
		p.narrow(b, places)
	}
	if !l.free {
		p.putRules(b, l, n)
	}
}

func addTaken(content []taken, t taken) []taken {
	for i := range content {
		if content[i].lot == t.lot && content[i].alternative == t.alternative {
			content[i].n += t.n
			return content
		}
	}
	return append(content, t)
}

func (p *packer) narrow(b *bin, places *feasible.Places) {
	if !b.slots.Within(places.Slots) {
		b.slots = b.slots.And(places.Slots)
	}
	if len(p.minimums[p.sp.Machines[b.machine].Pool]) > 0 {
		b.options = b.options.And(places.Machines)
	}
	if open := places.Open[p.sp.Machines[b.machine].Pool]; open != nil {
		b.open, b.hasOpen = b.open.Intersect(*open), true
	}
}

func (p *packer) putRules(b *bin, l *lot, n int) {
	r := &l.shape.Rules
	b.sealed = b.sealed || len(r.HostNeeds) > 0
	for _, g := range r.HostCounts {
		b.entry(g).n += int32(n)
		p.groupTotal[g] += n
	}
	for _, c := range r.HostCaps {
		if !c.Soft {
			t := b.entry(c.Group)
			t.limit = min(t.limit, c.Max)
		}
	}
	b.ports = append(b.ports, l.shape.Ports...)
	for _, v := range l.shape.Attach {
		b.attach(v)
	}
}

func (b *bin) attach(v snapshot.Volume) {
	if b.host < 0 || b.attached[v.ID] {
		return
	}
	b.note(v)
	for i := range b.volumes {
		if b.volumes[i].Name == v.Driver {
			b.volumes[i].Value--
		}
	}
}

// note remembers an attached volume. Most nodes have none.
func (b *bin) note(v snapshot.Volume) {
	if b.attached == nil {
		b.attached = map[string]bool{}
	}
	b.attached[v.ID] = true
}
