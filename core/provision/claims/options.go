package claims

import (
	"encoding/binary"
	"slices"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// options are what a claim leaves open.
type options struct {
	planned      offerRef
	offers       plan.Offers
	requirements requirement.Set
	relaxed      bool
}

// MaxTypes is how many instance types a claim names at most.
const MaxTypes = 600

// options finds what else the node could be: every offer of its pool that has room for
// its pods and that all of them may use. Nodes alike share one answer.
func (w *Writer) options(n pack.Node) options {
	sp := w.d.Space
	m := &sp.Machines[n.Machine]
	requirements, slots := w.d.Snapshot.Pools[m.Pool].Requirements, bitset.Full(len(sp.Slots))
	machines := w.roomy(n, m.Pool)
	choosy := false
	for _, l := range n.Loads {
		requirements = requirements.Intersect(l.Places.Require)
		slots.Keep(l.Places.Slots)
		machines.Keep(l.Places.Machines)
		choosy = choosy || l.Places.Open[m.Pool] != nil
	}
	if choosy {
		w.keepAgreeing(machines, requirements)
	}
	w.keepBearable(machines, m)
	w.keepKind(slots, n.Slot)
	w.keepKnown(machines, slots, n)
	w.keepPorts(machines, n)
	machines.Put(n.Machine)
	slots.Put(n.Slot)
	key := optionKey(m.Pool, machines, slots) + requirements.Key()
	if found, ok := w.known[key]; ok {
		return found
	}
	out := w.choose(machines, slots, requirements)
	w.known[key] = out
	return out
}

func optionKey(pool snapshot.PoolIndex, machines, slots bitset.Set) string {
	b := binary.AppendUvarint(nil, uint64(pool))
	for _, set := range []bitset.Set{machines, slots} {
		for _, word := range set {
			b = binary.LittleEndian.AppendUint64(b, word)
		}
	}
	return string(b)
}

// roomy is the set of the pool's machines with room for the node's pods.
func (w *Writer) roomy(n pack.Node, pool snapshot.PoolIndex) bitset.Set {
	sp := w.d.Space
	load := make([]int64, len(sp.Dims))
	for _, l := range n.Loads {
		for d, want := range w.a.Set.Shapes[w.a.Portions[l.Lot].Shape].Need {
			load[d] += want * int64(l.Count)
		}
	}
	out := bitset.New(len(sp.Machines))
	first, end := sp.PoolMachines(pool)
	for i := first; i < end; i++ {
		if feasible.Fits(load, sp.Machines[i].Room) {
			out.Put(i)
		}
	}
	return out
}

// keepPorts leaves out machines on which a daemon takes a port that a pod needs.
func (w *Writer) keepPorts(machines bitset.Set, n pack.Node) {
	sp := w.d.Space
	var wanted []model.HostPort
	for _, l := range n.Loads {
		wanted = append(wanted, w.a.Set.Shapes[w.a.Portions[l.Lot].Shape].Ports...)
	}
	if len(wanted) == 0 {
		return
	}
	keep := bitset.New(len(sp.Machines))
	for i := range machines.All {
		if !slices.ContainsFunc(sp.Machines[i].Ports, func(p model.HostPort) bool { return slices.ContainsFunc(wanted, p.Conflicts) }) {
			keep.Put(i)
		}
	}
	machines.Keep(keep)
}

// keepAgreeing leaves out types that cannot have all labels that the pods chose
// together; labels of slots are judged as slots.
func (w *Writer) keepAgreeing(machines bitset.Set, r requirement.Set) {
	sp := w.d.Space
	keep := bitset.New(len(sp.Machines))
	for i := range machines.All {
		labels, agrees := &sp.Machines[i].Type.Requirements, true
		for q := range r.All() {
			if labels.Has(q.Key()) && !sp.SlotLabel(q.Key()) && !labels.Get(q.Key()).Compatible(q) {
				agrees = false
				break
			}
		}
		if agrees {
			keep.Put(i)
		}
	}
	machines.Keep(keep)
}

// keepKind leaves a claim that is planned on a reservation only reservations: its own, and those with room for all
// claims of the draft that are planned on one, so that no outcome of the launches overruns them. Other claims get none.
func (w *Writer) keepKind(slots bitset.Set, planned int) {
	sp := w.d.Space
	reserved := sp.Slots[planned].CapacityType == catalog.Reserved
	keep := bitset.New(len(sp.Slots))
	for i := range sp.Slots {
		switch own := sp.Slots[i].CapacityType == catalog.Reserved; {
		case own != reserved:
		case !own || sp.Slots[i].Reservation == sp.Slots[planned].Reservation || sp.Stock(i) >= w.reserved:
			keep.Put(i)
		}
	}
	slots.Keep(keep)
}

// keepKnown leaves out machines and slots with which the node would open a domain that some spread does not
// count yet. The domain that the planned machine opens counts.
func (w *Writer) keepKnown(machines, slots bitset.Set, n pack.Node) {
	for i := range w.a.Outlooks {
		o := &w.a.Outlooks[i]
		if w.d.Space.SlotLabel(o.Key) {
			w.keepSlotsKnown(machines, slots, n, o)
		} else {
			w.keepMachinesKnown(machines, slots, n, o)
		}
	}
}

func (w *Writer) keepSlotsKnown(machines, slots bitset.Set, n pack.Node, o *topology.Outlook) {
	planned, _ := w.d.Domain(n, o.Key)
	sees := o.Sees(n.Machine, n.Slot)
	if !sees && !o.Knows(planned) { // the planned machine opens no domain, but another one may
		unseen := bitset.New(len(w.d.Space.Machines))
		for m := range machines.All {
			if !o.Sees(m, n.Slot) {
				unseen.Put(m)
			}
		}
		machines.Keep(unseen)
	}
	keep := bitset.New(len(w.d.Space.Slots))
	for slot := range slots.All {
		if domain, ok := w.d.Space.Slots[slot].Label(o.Key); !ok || sees && domain == planned || o.Knows(domain) || !seesAny(o, machines, slot) {
			keep.Put(slot)
		}
	}
	slots.Keep(keep)
}

func seesAny(o *topology.Outlook, machines bitset.Set, slot int) bool {
	for m := range machines.All {
		if o.Sees(m, slot) {
			return true
		}
	}
	return false
}

func (w *Writer) keepMachinesKnown(machines, slots bitset.Set, n pack.Node, o *topology.Outlook) {
	planned, opens := w.d.Domain(n, o.Key)
	opens = opens && o.Sees(n.Machine, n.Slot)
	keep := bitset.New(len(w.d.Space.Machines))
	for m := range machines.All {
		n.Machine = m
		if domain, ok := w.d.Domain(n, o.Key); !ok || opens && domain == planned || o.Knows(domain) || !seesIn(o, m, slots) {
			keep.Put(m)
		}
	}
	machines.Keep(keep)
}

func seesIn(o *topology.Outlook, machine int, slots bitset.Set) bool {
	for slot := range slots.All {
		if o.Sees(machine, slot) {
			return true
		}
	}
	return false
}

// choose takes the cheapest offers, up to the most types that a claim names. The
// cheapest of all is the one that is planned.
func (w *Writer) choose(machines, slots bitset.Set, r requirement.Set) options {
	t := w.table(w.d.Space.Machines[machines.Next(0)].Pool)
	refs := w.closed(t, machines, slots, r)
	planned := refs[0]
	out := options{planned: t.refs[planned]}
	selected := bitset.New(len(t.offers))
	types, named := bitset.New(t.types), 0
	variety := requirement.NewVariety(r)
	for _, i := range refs {
		if m := &w.d.Space.Machines[t.refs[i].machine]; !types.Has(m.Ordinal) {
			if named == MaxTypes {
				continue
			}
			types.Put(m.Ordinal)
			named++
			variety.Add(m.Type.Requirements)
		}
		if i != planned {
			selected.Put(i)
		}
	}
	out.offers = plan.Select(t.offers, selected)
	out.requirements = w.zoned(r, t, refs)
	if w.d.Space.Slots[t.refs[planned].slot].CapacityType == catalog.Reserved {
		out.requirements = out.requirements.Intersect(w.named(t, refs))
	}
	if short := variety.Shortfalls(); len(short) > 0 {
		out.requirements, out.relaxed = out.requirements.Lowered(short), true
	}
	return out
}

// closed lists, cheapest first, offers of which a claim can say "any of these types, in any of these zones,
// as any of these capacity types". A claim cannot name pairs of them. If daemons differ by zone, a type may
// hold the pods in some zones only. Such a type is left out, or the zones are narrowed to those of the
// cheapest offer's type if that leaves as much choice as the pool asks for.
func (w *Writer) closed(t *Table, machines, slots bitset.Set, r requirement.Set) []int {
	refs := w.refs[:0]
	for i, ref := range t.refs {
		if machines.Has(ref.machine) && slots.Has(ref.slot) {
			refs = append(refs, i)
		}
	}
	w.refs = refs
	planned := t.refs[refs[0]]
	if !w.split(planned, machines, slots) {
		return slices.DeleteFunc(refs, func(i int) bool { return w.split(t.refs[i], machines, slots) })
	}
	whole := slices.DeleteFunc(slices.Clone(refs), func(i int) bool { return w.split(t.refs[i], machines, slots) })
	narrow := w.safeSlots(planned, machines, slots)
	narrowed := slices.DeleteFunc(refs, func(i int) bool {
		return !narrow.Has(t.refs[i].slot) || w.split(t.refs[i], machines, narrow)
	})
	if len(whole) > 0 && w.lacksVariety(t, narrowed, r) && !w.lacksVariety(t, whole, r) {
		return whole
	}
	return narrowed
}

// lacksVariety reports whether the offers are of too few different values for what the
// requirements ask (minValues).
func (w *Writer) lacksVariety(t *Table, refs []int, r requirement.Set) bool {
	variety := requirement.NewVariety(r)
	for _, i := range refs {
		variety.Add(w.d.Space.Machines[t.refs[i].machine].Type.Requirements)
	}
	return len(variety.Shortfalls()) > 0
}

// keepBearable leaves out machines that the limits of pool and cluster could not bear in place of the
// planned one: what limits leave beside all planned nodes is shared out evenly, so that
// no outcome of the launches overruns them.
func (w *Writer) keepBearable(machines bitset.Set, planned *feasible.Machine) {
	spare := w.Spare[planned.Pool]
	if len(spare) == 0 {
		return
	}
	keep := bitset.New(len(w.d.Space.Machines))
	for i := range machines.All {
		if w.allows(spare, planned, &w.d.Space.Machines[i]) {
			keep.Put(i)
		}
	}
	machines.Keep(keep)
}

func (w *Writer) allows(spare []model.Amount, planned, other *feasible.Machine) bool {
	for i, a := range spare {
		sharers := w.claims[planned.Pool]
		if w.d.Snapshot.OfCluster(spare, i) {
			sharers = len(w.a.Result.New)
		}
		more := pack.Share(other.Capacity, a.Name) - pack.Share(planned.Capacity, a.Name)
		if more > max(a.Value, 0)/int64(sharers) {
			return false
		}
	}
	return true
}
