package search

import (
	"tenon/core/pack"
)

// appear tells the spreads that also count tainted nodes which domains the planned nodes open.
func (a *Draft) appear() {
	a.Outlooks = a.assigner.Outlooks()
	if len(a.Outlooks) == 0 {
		return
	}
	for _, n := range a.packer.Result().New {
		for i := range a.Outlooks {
			o := &a.Outlooks[i]
			if !o.Sees(n.Machine, n.Slot) {
				continue
			}
			if domain, ok := a.d.Domain(n, o.Key); ok && !o.Knows(domain) {
				a.assigner.Appear(o.Group, domain)
			}
		}
	}
}

// Domain is the value of a label that a planned node will have.
func (d *Search) Domain(n pack.Node, key string) (string, bool) {
	if d.Space.SlotLabel(key) {
		return d.Space.Slots[n.Slot].Label(key)
	}
	m := &d.Space.Machines[n.Machine]
	asked := d.Snapshot.Pools[m.Pool].Requirements.Intersect(m.Type.Requirements)
	for _, l := range n.Loads {
		asked = asked.Intersect(l.Places.Require)
	}
	if !asked.Has(key) || asked.Get(key).MayBeAbsent() {
		return "", false
	}
	return asked.Get(key).Any()
}
