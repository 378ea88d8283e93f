package provision

import (
	"tenon/core/bitset"
	"tenon/core/pack"
)

// appear tells the spreads that look at tainted nodes too which domains the planned nodes
// open.
func (a *attempt) appear() {
	a.outlooks = a.assigner.Outlooks()
	if len(a.outlooks) == 0 {
		return
	}
	for _, n := range a.packer.Result().New {
		for i := range a.outlooks {
			o := &a.outlooks[i]
			if !o.Sees(n.Machine) {
				continue
			}
			if domain, ok := a.d.domain(n, o.Key); ok && !o.Knows(domain) {
				a.assigner.Appear(o.Group, domain)
			}
		}
	}
}

// domain is the value of a label that a planned node will have.
func (d *decision) domain(n pack.Node, key string) (string, bool) {
	if d.sp.SlotLabel(key) {
		return d.sp.Slots[n.Slot].Label(key)
	}
	m := &d.sp.Machines[n.Machine]
	asked := d.s.Pools[m.Pool].Requirements.Intersect(m.Type.Requirements)
	for _, l := range n.Loads {
		asked = asked.Intersect(l.Places.Require)
	}
	if !asked.Has(key) || asked.Get(key).MayBeAbsent() {
		return "", false
	}
	return asked.Get(key).Any()
}

// keepKnown leaves out slots in which the node would open a domain that some spread does
// not reckon with.
func (w *writer) keepKnown(slots bitset.Set, n pack.Node) {
	sp := w.d.sp
	for i := range w.a.outlooks {
		o := &w.a.outlooks[i]
		if !sp.SlotLabel(o.Key) || !o.Sees(n.Machine) {
			continue
		}
		keep := bitset.New(len(sp.Slots))
		for slot := range slots.All {
			if domain, ok := sp.Slots[slot].Label(o.Key); !ok || o.Knows(domain) {
				keep.Put(slot)
			}
		}
		slots.Keep(keep)
	}
}
