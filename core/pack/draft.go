package pack

import (
	"cmp"
	"slices"

	"tenon/core/model"
)

// draft is one way of packing some pods on nodes to be bought. It is an immutable value: the bins
// that it was made of are closed, and putUp opens new ones each time.
//
//	waiting ── open bins, fill them ──▶ packing ── takeDown ──▶ draft ── better? ── putUp ──▶ packing
type draft struct {
	bins []drafted
	cost model.Money
	left int // pods without a place
}

// drafted is a bin of a draft, with what is on it.
type drafted struct {
	machine, slot int
	sealed        bool
	content       []taken
}

func (d *draft) better(o *draft) bool {
	return cmp.Or(cmp.Compare(d.left, o.left), cmp.Compare(d.cost, o.cost), cmp.Compare(len(d.bins), len(o.bins))) < 0
}

// takeDown closes the bins from a position on.
func (p *packer) takeDown(from int) *draft {
	d := &draft{left: p.countLeft(), bins: make([]drafted, 0, len(p.bins)-from)}
	for _, b := range p.bins[from:] {
		d.bins = append(d.bins, drafted{b.machine, b.slot, b.sealed, b.content})
		d.cost += b.price
		p.unload(b)
		p.release(b)
	}
	p.bins = p.bins[:from]
	return d
}

// putUp opens the bins of a draft.
func (p *packer) putUp(d *draft) {
	for _, b := range d.bins {
		again := p.newBin(b.machine, b.slot)
		again.sealed = b.sealed
		p.refill(again, b.content)
		p.open(again)
	}
}

// replace takes some bins apart, together with what was put on existing nodes, and restores
// everything unless the new draft of their pods is better.
func (p *packer) replace(victims []int, hosts []*bin, redo func() *draft) bool {
	rest, taken := p.bins[:0], make([]*bin, 0, len(victims))
	for i, b := range p.bins {
		if _, ok := slices.BinarySearch(victims, i); ok {
			taken = append(taken, b)
		} else {
			rest = append(rest, b)
		}
	}
	p.bins = append(rest, taken...)
	old, before := p.takeDown(len(rest)), p.vacateAll(hosts)
	fresh := redo()
	if fresh.better(old) {
		p.putUp(fresh)
		return true
	}
	p.vacateAll(hosts)
	for i, b := range hosts {
		p.restore(b, before[i])
	}
	p.putUp(old)
	return false
}
