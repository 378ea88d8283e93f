package provision

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/bitset"
	"tenon/core/feasible"
	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/requirement"
)

// offerTable lists a pool's offers, cheapest first.
type offerTable struct {
	offers []plan.Offer
	refs   []offerRef
	zones  int // how many different ones
	types  int // of the pool's catalogue, whether it sells them or not
}

type offerRef struct{ machine, slot int }

// table is made once for pools that sell the same: only their machines' numbers differ.
func (w *writer) table(pool int) *offerTable {
	if t, ok := w.tables[pool]; ok {
		return t
	}
	var t *offerTable
	if twin := w.twin(pool); twin != pool {
		t = w.table(twin).of(w.d.sp, twin, pool)
	} else {
		t = w.newTable(pool)
	}
	w.tables[pool] = t
	return t
}

// twin is the first pool that sells the same.
func (w *writer) twin(pool int) int {
	if w.alike == nil || w.alike[pool] == "" {
		return pool
	}
	return slices.Index(w.alike, w.alike[pool])
}

func (w *writer) newTable(pool int) *offerTable {
	sp := w.d.sp
	t := &offerTable{types: len(w.d.s.Catalogs[w.d.s.Pools[pool].Catalog].Types)}
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
func (t *offerTable) of(sp *feasible.Space, own, pool int) *offerTable {
	from, _ := sp.PoolMachines(own)
	to, _ := sp.PoolMachines(pool)
	out := *t
	out.refs = slices.Clone(t.refs)
	for i := range out.refs {
		out.refs[i].machine += to - from
	}
	return &out
}

// split reports whether the type of the offer is also offered, in slots that the claim
// admits, as a machine that would not do.
func (w *writer) split(ref offerRef, machines, slots bitset.Set) bool {
	first, end := w.sameType(ref.machine)
	for m := first; m < end; m++ {
		if !machines.Has(m) && w.d.sp.Machines[m].Slots.Meets(slots) {
			return true
		}
	}
	return false
}

// safeSlots are the slots of the planned capacity type where the planned type will do.
func (w *writer) safeSlots(planned offerRef, machines, slots bitset.Set) bitset.Set {
	sp := w.d.sp
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
func (w *writer) sameType(machine int) (first, end int) {
	m := w.d.sp.Machines
	same := func(i int) bool { return m[i].Pool == m[machine].Pool && m[i].Ordinal == m[machine].Ordinal }
	for first = machine; first > 0 && same(first-1); first-- {
	}
	for end = machine + 1; end < len(m) && same(end); end++ {
	}
	return first, end
}

// zoned adds the zones of the offers, where they are not all of the pool's.
func (w *writer) zoned(r requirement.Set, t *offerTable, refs []int) requirement.Set {
	zones := map[string]bool{}
	for _, i := range refs {
		zones[w.d.sp.Slots[t.refs[i].slot].Zone] = true
	}
	if len(zones) == t.zones {
		return r
	}
	return r.With(requirement.New(feasible.ZoneKey, requirement.In, order.Keys(zones)...))
}
