package provision

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/shape"
)

// writer turns the best attempt into a plan.
type writer struct {
	d *decision
	a *attempt
	// next is how many of each shape's pods have been handed out.
	next []int
	// spare is what each pool's limits leave after the planned nodes.
	spare  [][]model.Amount
	claims []int // by pool
	tables map[int]*offerTable
	alike  []string // by pool: equal where pools sell the same, if that is known
	known  map[string]options
	refs   []int // memory of closed, whose answer is good until it is asked again
}

// write hands pods out to nodes, oldest first, and says of each claim what else it
// could be.
func (d *decision) write(a *attempt) plan.Plan {
	w := &writer{
		d: d, a: a,
		next:   make([]int, len(a.set.Shapes)),
		spare:  d.spareLimits(a),
		claims: make([]int, len(d.s.Pools)),
		tables: map[int]*offerTable{},
		known:  map[string]options{},
	}
	for _, n := range a.result.New {
		w.claims[d.sp.Machines[n.Machine].Pool]++
	}
	d.left = w.spare
	if !d.s.Settings.BestEffortMinimum {
		w.dropShort()
	}
	w.dropDear()
	var p plan.Plan
	for _, n := range a.result.Hosts {
		p.Existing = append(p.Existing, plan.Placement{Node: d.s.Nodes[d.sp.Hosts[n.Host].Node].Name, Pods: w.pods(n)})
	}
	slices.SortFunc(p.Existing, func(x, y plan.Placement) int { return strings.Compare(x.Node, y.Node) })
	counts := map[string]int{}
	p.Claims = slices.Grow(p.Claims, len(w.a.result.New))
	for _, n := range w.inOrder() {
		claim := w.claim(n)
		counts[claim.Pool]++
		claim.Name = claim.Pool + "-" + strconv.Itoa(counts[claim.Pool])
		p.Claims = append(p.Claims, claim)
		p.Cost.New += claim.Offer.Price
	}
	p.Unplaced = w.unplaced()
	p.Cost.LowerBound = min(d.lowerBound(a), p.Cost.New)
	for _, claim := range d.replicas(reservedBy(p.Claims)) {
		p.Claims = append(p.Claims, claim)
		p.Cost.New += claim.Offer.Price // no fleet does without them
		p.Cost.LowerBound += claim.Offer.Price
	}
	p.Solve = plan.Solve{Pods: d.countPods(), Shapes: len(a.set.Shapes) + len(d.refused), Offers: d.countOffers(), Steps: d.steps}
	return p
}

// reservedBy counts the claims on each reservation.
func reservedBy(claims []plan.Claim) map[string]int64 {
	out := map[string]int64{}
	for i := range claims {
		if claims[i].Offer.CapacityType == catalog.Reserved {
			out[claims[i].Offer.Reservation]++
		}
	}
	return out
}

// dropShort gives up nodes whose claims could not name as many different values as their
// pool asks for: limits, zones and daemons can take choices away that the pods left open.
func (w *writer) dropShort() {
	w.a.result.New = slices.DeleteFunc(w.a.result.New, func(n pack.Node) bool {
		if !w.options(n).relaxed {
			return false
		}
		for _, l := range n.Loads {
			shape := w.a.portions[l.Lot].Shape
			w.a.left[shape] += l.Count
			w.a.why[shape] = reason.Reason{Code: reason.MinimumNotMet}
		}
		w.a.short = true
		return true
	})
}

// inOrder lists the new nodes by pool, then by size, then by what is on them.
func (w *writer) inOrder() []pack.Node {
	nodes := slices.Clone(w.a.result.New)
	sp := w.d.sp
	slices.SortStableFunc(nodes, func(a, b pack.Node) int {
		x, y := &sp.Machines[a.Machine], &sp.Machines[b.Machine]
		return cmp.Or(
			cmp.Compare(x.Pool, y.Pool),
			cmp.Compare(y.Price[b.Slot], x.Price[a.Slot]),
			strings.Compare(x.Type.Name, y.Type.Name),
			cmp.Compare(a.Slot, b.Slot),
			slices.CompareFunc(a.Loads, b.Loads, func(l, m pack.Load) int {
				return cmp.Or(cmp.Compare(l.Lot, m.Lot), cmp.Compare(l.Count, m.Count))
			}),
		)
	})
	return nodes
}

// pods hands out the pods of a node.
func (w *writer) pods(n pack.Node) []int {
	var out []int
	for _, l := range n.Loads {
		shape := w.a.portions[l.Lot].Shape
		s := &w.a.set.Shapes[shape]
		for _, p := range s.Pods[w.next[shape] : w.next[shape]+l.Count] {
			out = append(out, int(p))
		}
		w.next[shape] += l.Count
	}
	slices.Sort(out)
	return out
}

func (w *writer) claim(n pack.Node) plan.Claim {
	options := w.options(n)
	planned := options.planned
	m := &w.d.sp.Machines[planned.machine]
	pool := &w.d.s.Pools[m.Pool]
	c := plan.Claim{
		Pool: pool.Name, Offer: w.offer(planned.machine, planned.slot),
		Alternatives:  options.offers,
		Requirements:  options.requirements,
		Allocatable:   m.Allocatable,
		Capacity:      m.Capacity,
		Requests:      w.requests(n).Add(m.Daemons),
		Taints:        pool.Taints,
		StartupTaints: pool.StartupTaints,
		Pods:          w.pods(n),

		MinimumRelaxed: options.relaxed,
	}
	c.Labels = w.labels(m, planned.slot, options.requirements)
	return c
}

func (w *writer) offer(machine, slot int) plan.Offer {
	m, s := &w.d.sp.Machines[machine], &w.d.sp.Slots[slot]
	return plan.Offer{InstanceType: m.Type.Name, Zone: s.Zone, CapacityType: s.CapacityType, Reservation: s.Reservation, Price: m.Price[slot]}
}

func (w *writer) requests(n pack.Node) model.Resources {
	var sum model.Resources
	for _, l := range n.Loads {
		sum = sum.Add(w.template(l).Times(int64(l.Count)))
	}
	return sum
}

func (w *writer) template(l pack.Load) model.Resources {
	s := &w.a.set.Shapes[w.a.portions[l.Lot].Shape]
	return w.d.s.Templates[s.Template].Requests
}

// labels are those that the node will have as it is planned: the pool's, the offer's,
// and of what pods choose the first value that will do.
func (w *writer) labels(m *feasible.Machine, slot int, r requirement.Set) map[string]string {
	out := map[string]string{}
	place := func(set requirement.Set) {
		for q := range set.All() {
			if value, ok := q.Single(); ok {
				out[q.Key()] = value
			}
		}
	}
	for q := range r.All() {
		if value, ok := q.Any(); ok && !q.MayBeAbsent() && !w.d.s.Settings.WellKnown.Contains(q.Key()) {
			out[q.Key()] = value
		}
	}
	place(r)
	place(m.Type.Requirements)
	place(w.d.sp.Slots[slot].Labels())
	return out
}

// options are what a claim leaves open.
type options struct {
	planned      offerRef
	offers       plan.Offers
	requirements requirement.Set
	relaxed      bool
}

// maxTypes is how many instance types a claim names at most.
const maxTypes = 600

// options finds what else the node could be: every offer of its pool that has room for
// its pods and that all of them may use. Nodes alike share one answer.
func (w *writer) options(n pack.Node) options {
	sp := w.d.sp
	m := &sp.Machines[n.Machine]
	requirements, slots := w.d.s.Pools[m.Pool].Requirements, bitset.Full(len(sp.Slots))
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
	w.keepKnown(slots, n)
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

func optionKey(pool int, machines, slots bitset.Set) string {
	b := binary.AppendUvarint(nil, uint64(pool))
	for _, set := range []bitset.Set{machines, slots} {
		for _, word := range set {
			b = binary.LittleEndian.AppendUint64(b, word)
		}
	}
	return string(b)
}

// roomy is the set of the pool's machines with room for the node's pods.
func (w *writer) roomy(n pack.Node, pool int) bitset.Set {
	sp := w.d.sp
	load := make([]int64, len(sp.Dims))
	for _, l := range n.Loads {
		for d, want := range w.a.set.Shapes[w.a.portions[l.Lot].Shape].Need {
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
func (w *writer) keepPorts(machines bitset.Set, n pack.Node) {
	sp := w.d.sp
	var wanted []model.HostPort
	for _, l := range n.Loads {
		wanted = append(wanted, w.a.set.Shapes[w.a.portions[l.Lot].Shape].Ports...)
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
func (w *writer) keepAgreeing(machines bitset.Set, r requirement.Set) {
	sp := w.d.sp
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

// keepKind leaves a claim that is planned on a reservation nothing but that
// reservation, and other claims none.
func (w *writer) keepKind(slots bitset.Set, planned int) {
	sp := w.d.sp
	keep := bitset.New(len(sp.Slots))
	own := &sp.Slots[planned]
	for i := range sp.Slots {
		if own.CapacityType == catalog.Reserved && sp.Slots[i].Reservation == own.Reservation ||
			own.CapacityType != catalog.Reserved && sp.Slots[i].CapacityType != catalog.Reserved {
			keep.Put(i)
		}
	}
	slots.Keep(keep)
}

// choose takes the cheapest offers, up to the most types that a claim names. The
// cheapest of all is the one that is planned.
func (w *writer) choose(machines, slots bitset.Set, r requirement.Set) options {
	t := w.table(w.d.sp.Machines[machines.Next(0)].Pool)
	refs := w.closed(t, machines, slots, r)
	planned := refs[0]
	out := options{planned: t.refs[planned]}
	selected := bitset.New(len(t.offers))
	types, named := bitset.New(t.types), 0
	variety := requirement.NewVariety(r)
	for _, i := range refs {
		if m := &w.d.sp.Machines[t.refs[i].machine]; !types.Has(m.Ordinal) {
			if named == maxTypes {
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
	if slot := &w.d.sp.Slots[t.refs[planned].slot]; slot.CapacityType == catalog.Reserved {
		out.requirements = out.requirements.Intersect(slot.Labels().Without(feasible.ZoneKey))
	}
	if short := variety.Shortfalls(); len(short) > 0 {
		out.requirements, out.relaxed = out.requirements.Lowered(short), true
	}
	return out
}

// closed lists, cheapest first, offers of which a claim can say "any of these types, in
// any of these zones, as any of these capacity types". A claim names no pairs, so that a
// type which holds the pods in one zone only, because daemons differ, is left out, or
// the zones are narrowed to those of the cheapest offer's type, if that leaves as much
// choice as the pool asks for.
func (w *writer) closed(t *offerTable, machines, slots bitset.Set, r requirement.Set) []int {
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
func (w *writer) lacksVariety(t *offerTable, refs []int, r requirement.Set) bool {
	variety := requirement.NewVariety(r)
	for _, i := range refs {
		variety.Add(w.d.sp.Machines[t.refs[i].machine].Type.Requirements)
	}
	return len(variety.Shortfalls()) > 0
}

// spareLimits is what limits leave once every planned node has its share.
func (d *decision) spareLimits(a *attempt) [][]model.Amount {
	out := make([][]model.Amount, len(d.limits))
	for p := range d.limits {
		out[p] = slices.Clone(d.limits[p])
	}
	for _, n := range a.result.New {
		m := &d.sp.Machines[n.Machine]
		for i := range out[m.Pool] {
			out[m.Pool][i].Value -= pack.Share(m.Capacity, out[m.Pool][i].Name)
		}
	}
	return out
}

// keepBearable leaves out machines that the pool's limits could not bear in place of the
// planned one: what limits leave beside all planned nodes is shared out evenly, so that
// no outcome of the launches overruns them.
func (w *writer) keepBearable(machines bitset.Set, planned *feasible.Machine) {
	spare := w.spare[planned.Pool]
	if len(spare) == 0 {
		return
	}
	keep := bitset.New(len(w.d.sp.Machines))
	for i := range machines.All {
		if w.bears(spare, planned, &w.d.sp.Machines[i]) {
			keep.Put(i)
		}
	}
	machines.Keep(keep)
}

func (w *writer) bears(spare []model.Amount, planned, other *feasible.Machine) bool {
	for _, a := range spare {
		more := pack.Share(other.Capacity, a.Name) - pack.Share(planned.Capacity, a.Name)
		if more > max(a.Value, 0)/int64(w.claims[planned.Pool]) {
			return false
		}
	}
	return true
}

func (d *decision) countPods() int {
	n := len(d.invalid)
	for _, wishes := range [][]shape.Wish{d.wishes, d.refused} {
		for _, w := range wishes {
			n += len(w.Pods)
		}
	}
	return n
}

func (d *decision) countOffers() int {
	n := 0
	for m := range d.sp.Machines {
		n += d.sp.Machines[m].Slots.Count()
	}
	return n
}
