package claims

import (
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/reason"
)

// DropDear gives up nodes that exceed the price ceiling of their pool: an offering that would do as well is
// much cheaper and out of stock. The pods wait until that is in stock again. It reports whether there were
// any.
func (w *Writer) DropDear() bool { return w.a.GiveUp(w.dear) }

// dear is why a node costs too much; the zero value if it does not. What is reserved was paid for
// before, and no price is measured by it.
func (w *Writer) dear(n pack.Node) reason.Reason {
	sp := w.d.Space
	m := &sp.Machines[n.Machine]
	pool := &w.d.Snapshot.Pools[m.Pool]
	if pool.PriceCeiling == 0 {
		return reason.Reason{}
	}
	slots, requirements := sp.SlotsAllowed(pool.Requirements).Clone(), pool.Requirements
	for _, l := range n.Loads {
		slots.Keep(l.Places.Slots)
		requirements = requirements.Intersect(l.Places.Require)
	}
	types := sp.TypesFor(m.Pool, requirements)
	usual, inStock, name := model.Money(0), true, ""
	for at := range w.roomy(n, m.Pool).All {
		other := &sp.Machines[at]
		if other.Overdrawn != "" || !types.Has(other.Ordinal) {
			continue
		}
		for slot := range other.Listed.All {
			price := other.Price[slot]
			if !slots.Has(slot) || sp.Slots[slot].CapacityType == catalog.Reserved || price <= pool.NodePrice || usual > 0 && price >= usual {
				continue
			}
			usual, inStock, name = price, other.Slots.Has(slot), other.Type.Name
		}
	}
	ceiling := usual * model.Money(pool.PriceCeiling) / 100
	if inStock || m.Price[n.Slot] <= ceiling {
		return reason.Reason{}
	}
	return reason.Reason{Code: reason.PriceCeiling, Where: name, Have: int64(ceiling), Want: int64(m.Price[n.Slot])}
}
