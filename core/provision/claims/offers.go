package claims

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/bitset"
	"tenon/core/feasible"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Table lists a pool's offers, cheapest first.
type Table struct {
	offers []plan.Offer
	refs   []offerRef
	zones  int // how many different ones
	types  int // of the pool's catalogue, whether it sells them or not
}

type offerRef struct{ machine, slot int }

// table is made once for pools that sell the same: only their machines' numbers differ.
func (w *Writer) table(pool snapshot.PoolIndex) *Table {
	if t, ok := w.tables[pool]; ok {
		return t
	}
	var t *Table
	if other := w.firstAlike(pool); other != pool {
		t = w.table(other).of(w.d.Space, other, pool)
	} else {
		t = w.newTable(pool)
	}
	w.tables[pool] = t
	return t
}

// firstAlike is the first pool that sells the same.
func (w *Writer) firstAlike(pool snapshot.PoolIndex) snapshot.PoolIndex {
	if w.alike == nil || w.alike[pool] == "" {
		return pool
	}
	return snapshot.PoolIndex(slices.Index(w.alike, w.alike[pool]))
}

func (w *Writer) newTable(pool snapshot.PoolIndex) *Table {
	sp := w.d.Space
	t := &Table{types: len(w.d.Snapshot.Catalogs[w.d.Snapshot.Pools[pool].Catalog].Types)}
	first, end := sp.PoolMachines(pool)
	for m := first; m < end; m++ {
		for slot := range sp.Machines[m].Slots.All {
			t.refs = append(t.refs, offerRef{m, slot})
		}
	}
	slices.SortFunc(t.refs, func(a, b offerRef) int {
		x, y := &sp.Machines[a.machine], &sp.Machines[b.machine]
		if order := cmp.Compare(x.Price[a.slot], y.Price[b.slot]); order != 0 {
			return order
		}
		return cmp.Or(strings.Compare(x.Type.Name, y.Type.Name), cmp.Compare(a.slot, b.slot), cmp.Compare(a.machine, b.machine))
	})
	t.offers = make([]plan.Offer, 0, len(t.refs))
	zones := map[string]bool{}
	for _, ref := range t.refs {
		t.offers = append(t.offers, w.offer(ref.machine, ref.slot))
		zones[sp.Slots[ref.slot].Zone] = true
	}
	t.zones = len(zones)
	return t
}

// of is the table of a pool that sells the same as the table's own.
func (t *Table) of(sp *feasible.Space, own, pool snapshot.PoolIndex) *Table {
	from, _ := sp.PoolMachines(own)
	to, _ := sp.PoolMachines(pool)
	out := *t
	out.refs = slices.Clone(t.refs)
	for i := range out.refs {
		out.refs[i].machine += to - from
	}
	return &out
}

// split reports whether the type of the offer is also offered, in slots that the claim admits, as an
// unsuitable machine.
func (w *Writer) split(ref offerRef, machines, slots bitset.Set) bool {
	first, end := w.sameType(ref.machine)
	for m := first; m < end; m++ {
		if !machines.Has(m) && w.d.Space.Machines[m].Slots.Meets(slots) {
			return true
		}
	}
	return false
}

// safeSlots are the slots of the planned capacity type where the planned type will do.
func (w *Writer) safeSlots(planned offerRef, machines, slots bitset.Set) bitset.Set {
	sp := w.d.Space
	out := bitset.New(len(sp.Slots))
	first, end := w.sameType(planned.machine)
	for m := first; m < end; m++ {
		if !machines.Has(m) {
			continue
		}
		for slot := range sp.Machines[m].Slots.All {
			if slots.Has(slot) && sp.Slots[slot].CapacityType == sp.Slots[planned.slot].CapacityType {
				out.Put(slot)
			}
		}
	}
	return out
}

// sameType is the range of the machines of one pool and type, end excluded.
func (w *Writer) sameType(machine int) (first, end int) {
	m := w.d.Space.Machines
	same := func(i int) bool { return m[i].Pool == m[machine].Pool && m[i].Ordinal == m[machine].Ordinal }
	for first = machine; first > 0 && same(first-1); first-- {
	}
	for end = machine + 1; end < len(m) && same(end); end++ {
	}
	return first, end
}

// zoned adds the zones of the offers, where they are not all of the pool's.
func (w *Writer) zoned(r requirement.Set, t *Table, refs []int) requirement.Set {
	zones := map[string]bool{}
	for _, i := range refs {
		zones[w.d.Space.Slots[t.refs[i].slot].Zone] = true
	}
	if len(zones) == t.zones {
		return r
	}
	return r.With(requirement.New(feasible.ZoneKey, requirement.In, order.Keys(zones)...))
}

// named says which reservations the offers belong to: every label that they give a node besides the zone, with the
// values of all of them.
func (w *Writer) named(t *Table, refs []int) requirement.Set {
	sp := w.d.Space
	out := sp.Slots[t.refs[refs[0]].slot].Labels().Without(feasible.ZoneKey)
	for _, key := range out.Keys() {
		values := map[string]bool{}
		for _, i := range refs {
			for v := range sp.Slots[t.refs[i].slot].Labels().Get(key).All() {
				values[v] = true
			}
		}
		out = out.Replaced(requirement.New(key, requirement.In, order.Keys(values)...))
	}
	return out
}
