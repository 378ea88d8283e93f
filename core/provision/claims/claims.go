package claims

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tenon/core/catalog"
	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/provision/search"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Writer turns a draft into claims and placements.
type Writer struct {
	d *search.Search
	a *search.Draft
	// next is how many of each shape's pods have been handed out.
	next []int
	// Spare is what each pool's limits leave after the planned nodes.
	Spare  [][]model.Amount
	claims []int // by pool
	// reserved is how many of the new nodes are planned on a reservation.
	reserved int64
	tables   map[snapshot.PoolIndex]*Table
	alike    []string // by pool: equal where pools sell the same, if that is known
	known    map[string]options
	refs     []int // memory of closed, whose answer is good until it is asked again
}

// New begins with all pods to hand out. Tables are of other drafts with the same offers.
func New(d *search.Search, a *search.Draft, alike []string, tables map[snapshot.PoolIndex]*Table) *Writer {
	w := &Writer{
		d: d, a: a, next: make([]int, len(a.Set.Shapes)), Spare: a.SpareLimits(),
		claims: make([]int, len(d.Snapshot.Pools)), tables: tables, alike: alike, known: map[string]options{},
	}
	for _, n := range a.Result.New {
		w.claims[d.Space.Machines[n.Machine].Pool]++
		if d.Space.Slots[n.Slot].CapacityType == catalog.Reserved {
			w.reserved++
		}
	}
	return w
}

// Existing are the pods for nodes that are there.
func (w *Writer) Existing() []plan.Placement {
	var out []plan.Placement
	for _, n := range w.a.Result.Hosts {
		out = append(out, plan.Placement{Node: w.d.Snapshot.Nodes[w.d.Space.Hosts[n.Host].Node].Name, Pods: w.Pods(n)})
	}
	slices.SortFunc(out, func(x, y plan.Placement) int { return strings.Compare(x.Node, y.Node) })
	return out
}

// Claims are the claims for the new nodes, with their price.
func (w *Writer) Claims() (claims []plan.Claim, price model.Money) {
	counts := map[string]int{}
	claims = slices.Grow(claims, len(w.a.Result.New))
	for _, n := range w.InOrder() {
		claim := w.Claim(n)
		counts[claim.Pool]++
		claim.Name = claim.Pool + "-" + strconv.Itoa(counts[claim.Pool])
		claims = append(claims, claim)
		price += claim.Offer.Price
	}
	return claims, price
}

// Totals is what limits of the cluster leave beside claims, whichever of their offers are launched.
func (w *Writer) Totals(claims []plan.Claim) []model.Amount {
	left := search.RemainingTotals(w.d.Snapshot)
	if len(left) == 0 {
		return nil
	}
	pools := map[string]*snapshot.Pool{}
	for i := range w.d.Snapshot.Pools {
		pools[w.d.Snapshot.Pools[i].Name] = &w.d.Snapshot.Pools[i]
	}
	for i := range claims {
		left = besides(w.d.Snapshot, pools[claims[i].Pool], left, &claims[i])
	}
	return left
}

// ReservedBy counts the claims that may take an instance of each reservation.
func ReservedBy(claims []plan.Claim) map[string]int64 {
	out := map[string]int64{}
	for i := range claims {
		for _, id := range claims[i].Reservations() {
			out[id]++
		}
	}
	return out
}

// DropShort gives up nodes whose claims could not name as many different values as their pool asks for:
// limits, zones and daemons can remove choices that the pods left open.
func (w *Writer) DropShort() {
	w.a.GiveUp(func(n pack.Node) reason.Reason {
		if w.options(n).relaxed {
			return reason.Reason{Code: reason.MinimumNotMet}
		}
		return reason.Reason{}
	})
}

// InOrder lists the new nodes by pool, then by size, then by what is on them.
func (w *Writer) InOrder() []pack.Node {
	nodes := slices.Clone(w.a.Result.New)
	sp := w.d.Space
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

// Pods hands out the pods of a node.
func (w *Writer) Pods(n pack.Node) []snapshot.PodIndex {
	var out []snapshot.PodIndex
	for _, l := range n.Loads {
		shape := w.a.Portions[l.Lot].Shape
		s := &w.a.Set.Shapes[shape]
		out = append(out, s.Pods[w.next[shape]:w.next[shape]+l.Count]...)
		w.next[shape] += l.Count
	}
	slices.Sort(out)
	return out
}

// Claim is the claim for a node, without a name.
func (w *Writer) Claim(n pack.Node) plan.Claim {
	options := w.options(n)
	planned := options.planned
	m := &w.d.Space.Machines[planned.machine]
	pool := &w.d.Snapshot.Pools[m.Pool]
	c := plan.Claim{
		Pool: pool.Name, Offer: w.offer(planned.machine, planned.slot),
		Alternatives:  options.offers,
		Requirements:  options.requirements,
		Allocatable:   m.Allocatable,
		Capacity:      m.Capacity,
		Requests:      w.requests(n).Add(m.Daemons),
		Taints:        pool.Taints,
		StartupTaints: pool.StartupTaints,
		Pods:          w.Pods(n),

		MinimumRelaxed: options.relaxed,
	}
	c.Labels = w.Labels(m, planned.slot, options.requirements)
	if pool.Group != nil {
		c.Group = pool.Group.Name
	}
	return c
}

func (w *Writer) offer(machine, slot int) plan.Offer {
	m, s := &w.d.Space.Machines[machine], &w.d.Space.Slots[slot]
	return plan.Offer{InstanceType: m.Type.Name, Zone: s.Zone, CapacityType: s.CapacityType, Reservation: s.Reservation, Price: m.Price[slot]}
}

func (w *Writer) requests(n pack.Node) model.Resources {
	var sum model.Resources
	for _, l := range n.Loads {
		sum = sum.Add(w.template(l).Times(int64(l.Count)))
	}
	return sum
}

func (w *Writer) template(l pack.Load) model.Resources {
	s := &w.a.Set.Shapes[w.a.Portions[l.Lot].Shape]
	return w.d.Snapshot.Templates[s.Template].Requests
}

// Labels are those of the planned node: the pool's, the offer's, and the first suitable value of each label
// that pods choose.
func (w *Writer) Labels(m *feasible.Machine, slot int, r requirement.Set) map[string]string {
	out := map[string]string{}
	place := func(set requirement.Set) {
		for q := range set.All() {
			if value, ok := q.Single(); ok {
				out[q.Key()] = value
			}
		}
	}
	for q := range r.All() {
		if value, ok := q.Any(); ok && !q.MayBeAbsent() && !w.d.Snapshot.Settings.WellKnown.Contains(q.Key()) {
			out[q.Key()] = value
		}
	}
	place(r)
	place(m.Type.Requirements)
	place(w.d.Space.Slots[slot].Labels())
	return out
}
