package provision

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tenon/core/bitset"
	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
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
	tables map[int]*offerTable
}

// write hands pods out to nodes, oldest first, and says of each claim what else it
// could be.
func (d *decision) write(a *attempt) plan.Plan {
	w := &writer{d: d, a: a, next: make([]int, len(a.set.Shapes)), spare: d.spareLimits(a), tables: map[int]*offerTable{}}
	d.left = w.spare
	var p plan.Plan
	for _, n := range a.result.Hosts {
		p.Existing = append(p.Existing, plan.Placement{Node: d.s.Nodes[d.sp.Hosts[n.Host].Node].Name, Pods: w.pods(n)})
	}
	slices.SortFunc(p.Existing, func(x, y plan.Placement) int { return strings.Compare(x.Node, y.Node) })
	counts := map[string]int{}
	for _, n := range w.inOrder() {
		claim := w.claim(n)
		counts[claim.Pool]++
		claim.Name = claim.Pool + "-" + strconv.Itoa(counts[claim.Pool])
		p.Claims = append(p.Claims, claim)
		p.Cost.New += claim.Offer.Price
	}
	p.Unplaced = w.unplaced()
	p.Cost.LowerBound = min(d.lowerBound(a), p.Cost.New)
	p.Solve = plan.Solve{Pods: d.countPods(), Shapes: len(a.set.Shapes) + len(d.refused), Offers: d.countOffers(), Steps: d.steps}
	return p
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
		party := w.a.portions[l.Lot].Party
		s := &w.a.set.Shapes[party]
		for _, p := range s.Pods[w.next[party] : w.next[party]+l.Count] {
			out = append(out, int(p))
		}
		w.next[party] += l.Count
	}
	slices.Sort(out)
	return out
}

func (w *writer) claim(n pack.Node) plan.Claim {
	sp := w.d.sp
	m := &sp.Machines[n.Machine]
	pool := &w.d.s.Pools[m.Pool]
	options := w.options(n)
	c := plan.Claim{
		Pool: pool.Name, Offer: w.offer(n.Machine, n.Slot),
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
	c.Labels = w.labels(m, n.Slot, options.requirements)
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
	s := &w.a.set.Shapes[w.a.portions[l.Lot].Party]
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
		if value, ok := q.Any(); ok && !w.d.s.Settings.WellKnown.Contains(q.Key()) {
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
	offers       plan.Offers
	requirements requirement.Set
	relaxed      bool
}

// maxTypes is how many instance types a claim names at most.
const maxTypes = 600

func (w *writer) options(n pack.Node) options {
	m := &w.d.sp.Machines[n.Machine]
	load := make([]int64, len(w.d.sp.Dims))
	for _, l := range n.Loads {
		for d, want := range w.a.set.Shapes[w.a.portions[l.Lot].Party].Need {
			load[d] += want * int64(l.Count)
		}
	}
	pool := &w.d.s.Pools[m.Pool]
	requirements, slots := pool.Requirements, bitset.Full(len(w.d.sp.Slots))
	first, end := w.d.sp.PoolMachines(m.Pool)
	machines := bitset.New(len(w.d.sp.Machines))
	for i := first; i < end; i++ {
		if feasible.Fits(load, w.d.sp.Machines[i].Room) {
			machines.Put(i)
		}
	}
	for _, l := range n.Loads {
		requirements = requirements.Intersect(l.Places.Require)
		slots.Keep(l.Places.Slots)
		machines.Keep(l.Places.Machines)
	}
	t := w.table(m.Pool)
	selected, types := t.choose(w, n, machines, slots, requirements, m)
	out := options{offers: plan.Select(t.offers, selected)}
	out.requirements = narrowed(requirements, types)
	if slot := &w.d.sp.Slots[n.Slot]; slot.CapacityType == catalog.Reserved {
		out.requirements = out.requirements.Intersect(slot.Labels().Without(feasible.ZoneKey))
	}
	if variety := requirement.NewVariety(requirements); variety != nil {
		for _, machine := range types.machines {
			variety.Add(w.d.sp.Machines[machine].Type.Requirements)
		}
		out.relaxed = !variety.Met()
	}
	return out
}

// chosen is what the selected offers have in common.
type chosen struct {
	machines      []int
	names         []string
	capacityTypes map[string]bool
}

// narrowed adds to the requirements the instance types and capacity types that are left.
// A claim planned on a reservation asks for it and nothing else.
func narrowed(r requirement.Set, c chosen) requirement.Set {
	slices.Sort(c.names)
	least := r.Get(feasible.InstanceTypeKey).MinValues()
	r = r.Replaced(requirement.New(feasible.InstanceTypeKey, requirement.In, slices.Compact(c.names)...).WithMinValues(least))
	var capacityTypes []string
	for ct := range c.capacityTypes {
		capacityTypes = append(capacityTypes, ct)
	}
	return r.With(requirement.New(feasible.CapacityTypeKey, requirement.In, capacityTypes...))
}

// offerTable lists a pool's offers, cheapest first.
type offerTable struct {
	offers []plan.Offer
	refs   []offerRef
}

type offerRef struct{ machine, slot int }

func (w *writer) table(pool int) *offerTable {
	if t, ok := w.tables[pool]; ok {
		return t
	}
	t := &offerTable{}
	first, end := w.d.sp.PoolMachines(pool)
	for m := first; m < end; m++ {
		for slot := range w.d.sp.Machines[m].Slots.All {
			t.refs = append(t.refs, offerRef{m, slot})
		}
	}
	slices.SortFunc(t.refs, func(a, b offerRef) int {
		x, y := &w.d.sp.Machines[a.machine], &w.d.sp.Machines[b.machine]
		return cmp.Or(cmp.Compare(x.Price[a.slot], y.Price[b.slot]), strings.Compare(x.Type.Name, y.Type.Name), cmp.Compare(a.slot, b.slot), cmp.Compare(a.machine, b.machine))
	})
	for _, ref := range t.refs {
		t.offers = append(t.offers, w.offer(ref.machine, ref.slot))
	}
	w.tables[pool] = t
	return t
}

// choose selects the other offers that the claim allows: up to the most types that a
// claim names, the cheapest first, and none that the pool's limits could not bear.
func (t *offerTable) choose(w *writer, n pack.Node, machines, slots bitset.Set, r requirement.Set, planned *feasible.Machine) (bitset.Set, chosen) {
	sp := w.d.sp
	selected := bitset.New(len(t.offers))
	c := chosen{capacityTypes: map[string]bool{}}
	reserved := sp.Slots[n.Slot].CapacityType == catalog.Reserved
	seen := map[int]bool{}
	allowed := w.bearable(planned)
	for i, ref := range t.refs {
		own := ref.machine == n.Machine && ref.slot == n.Slot
		if !own {
			if !machines.Has(ref.machine) || !slots.Has(ref.slot) || reserved != (sp.Slots[ref.slot].CapacityType == catalog.Reserved) {
				continue
			}
			if reserved && sp.Slots[ref.slot].Reservation != sp.Slots[n.Slot].Reservation {
				continue
			}
			if !allowed(&sp.Machines[ref.machine]) || !agrees(&sp.Machines[ref.machine], r, sp) {
				continue
			}
			if !seen[ref.machine] && len(seen) >= maxTypes {
				continue
			}
			selected.Put(i)
		}
		if !seen[ref.machine] {
			seen[ref.machine] = true
			c.machines = append(c.machines, ref.machine)
			c.names = append(c.names, sp.Machines[ref.machine].Type.Name)
		}
		c.capacityTypes[sp.Slots[ref.slot].CapacityType] = true
	}
	return selected, c
}

// agrees reports whether the type can have every label that is asked for; labels of
// slots are judged as slots.
func agrees(m *feasible.Machine, r requirement.Set, sp *feasible.Space) bool {
	for q := range r.All() {
		if m.Type.Requirements.Has(q.Key()) && !sp.SlotLabel(q.Key()) && !m.Type.Requirements.Get(q.Key()).Compatible(q) {
			return false
		}
	}
	return true
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

// bearable reserves for one claim: it may be launched as any machine whose capacity the
// limits can bear besides all other planned nodes, and what the largest of them would
// take beyond the planned one is set aside.
func (w *writer) bearable(planned *feasible.Machine) func(*feasible.Machine) bool {
	spare := w.spare[planned.Pool]
	if len(spare) == 0 {
		return func(*feasible.Machine) bool { return true }
	}
	share := make([]int64, len(spare))
	for i, a := range spare {
		share[i] = a.Value / int64(max(w.claimsOf(planned.Pool), 1))
	}
	return func(m *feasible.Machine) bool {
		for i, a := range spare {
			if pack.Share(m.Capacity, a.Name)-pack.Share(planned.Capacity, a.Name) > max(share[i], 0) {
				return false
			}
		}
		return true
	}
}

func (w *writer) claimsOf(pool int) int {
	n := 0
	for _, node := range w.a.result.New {
		if w.d.sp.Machines[node.Machine].Pool == pool {
			n++
		}
	}
	return n
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
