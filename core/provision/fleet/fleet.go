// Package fleet answers where pods that have a place could be instead, again and again for one
// snapshot: on nodes that are there, and on nodes that would have to be bought. It also says
// where kube-scheduler is expected to put pods that move.
package fleet

import (
	"maps"
	"slices"
	"strconv"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/plan"
	"tenon/core/provision/claims"
	"tenon/core/provision/search"
	"tenon/core/reason"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// Fleet finds other places for pods that have one: on nodes that are there, and on nodes
// that would have to be bought. It is made once for a snapshot and asked again and again;
// what was Taken counts for all later questions.
//
// Pods and nodes are numbered as in its snapshot, which is in order.
type Fleet struct {
	Snapshot *snapshot.Snapshot
	sp       *feasible.Space
	tiers    [][]int
	limits   [][]model.Amount
	hosts    []feasible.Host // by node; those of leaving nodes are of no use
	stays    []bool          // by node
	before   []feasible.Host // as they were at first
	planned  []feasible.Host // nodes to come, with what is to be on them
	first    map[snapshot.TemplateIndex]wishFor
	ruled    []bool     // by template: some rule between pods looks at it, or it at others
	ties     []ties     // by template
	set      *shape.Set // of one pod of each template
	circle   []int32    // by template: those of one circle are what its rules may speak about; -1 without rules
	ruledOn  []int      // nodes with pods that some rule between pods looks at
	steps    int64
	reserved map[string]int64 // instances of reservations that are taken
	tables   map[int]*claims.Table
	cache    *pack.OfferCache
	alike    []string                                      // by pool: what it sells, empty where limits make it differ from others
	admits   map[snapshot.TemplateIndex][]*feasible.Places // by template
	whys     map[why]reason.Refusal
}

// wishFor is what a template asks for once the preferences that no node can meet are given up.
type wishFor struct {
	dropped  feasible.Dropped
	possible bool
}

// New is the fleet of a snapshot. What the plan places and buys is done already. Compiled is what was
// compiled before, or nil.
func New(s snapshot.Sorted, p *plan.Plan, compiled *feasible.Compiled) *Fleet {
	b := &Fleet{Snapshot: s.Snapshot, first: map[snapshot.TemplateIndex]wishFor{}, reserved: map[string]int64{}, tables: map[int]*claims.Table{}, cache: pack.NewOfferCache()}
	b.sp = feasible.CompileWith(b.Snapshot, b.templates(), compiled)
	b.tiers = search.TiersOf(b.Snapshot)
	b.limits = search.RemainingLimits(b.Snapshot)
	b.hosts = make([]feasible.Host, len(b.Snapshot.Nodes))
	b.stays = make([]bool, len(b.Snapshot.Nodes))
	for _, h := range b.sp.Hosts {
		b.hosts[h.Node], b.stays[h.Node] = h, true
	}
	b.alike = make([]string, len(b.limits))
	for p := range b.alike {
		if pool := &b.Snapshot.Pools[p]; pool.Unready == "" && len(pool.Limits) == 0 {
			b.alike[p] = b.sp.Range(p)
		}
	}
	b.before = slices.Clone(b.hosts)
	b.findRuled()
	b.begin(p)
	return b
}

// templates are those of all pods: any may have to move.
func (b *Fleet) templates() []snapshot.TemplateIndex {
	var out []snapshot.TemplateIndex
	for _, pod := range b.models() {
		out = append(out, b.Snapshot.Pods[pod].Template)
	}
	return out
}

// models are one pod of each template that pods have. There may be templates without any.
func (b *Fleet) models() []snapshot.PodIndex {
	seen := make([]bool, len(b.Snapshot.Templates))
	var out []snapshot.PodIndex
	for i := range b.Snapshot.Pods {
		if t := b.Snapshot.Pods[i].Template; !seen[t] {
			seen[t] = true
			out = append(out, snapshot.PodIndex(i))
		}
	}
	return out
}

// begin does what a plan says: its pods take their places.
func (b *Fleet) begin(p *plan.Plan) {
	if p == nil {
		return
	}
	at := make(map[string]int, len(b.Snapshot.Nodes))
	for n := range b.Snapshot.Nodes {
		at[b.Snapshot.Nodes[n].Name] = n
	}
	for _, placement := range p.Existing {
		if n, ok := at[placement.Node]; ok && b.stays[n] {
			b.give(n, placement.Pods)
		}
	}
	for i := range p.Claims {
		b.buy(&p.Claims[i], p.Claims[i].Pods)
	}
}

// give puts pods on an existing node.
func (b *Fleet) give(n int, pods []snapshot.PodIndex) {
	b.hosts[n] = b.sp.Taking(b.hosts[n], pods)
	if at, known := slices.BinarySearch(b.ruledOn, n); !known && slices.ContainsFunc(pods, b.Ruled) {
		b.ruledOn = slices.Insert(b.ruledOn, at, n)
	}
}

// buy enters a claim: what it takes of limits and reservations, and the pods on it.
func (b *Fleet) buy(c *plan.Claim, pods []snapshot.PodIndex) {
	pool := slices.IndexFunc(b.Snapshot.Pools, func(p snapshot.Pool) bool { return p.Name == c.Pool })
	if pool < 0 {
		return
	}
	most := b.most(pool, c)
	for i := range b.limits[pool] {
		b.limits[pool][i].Value -= most[i]
	}
	if c.Offer.Reservation != "" {
		b.sp.Reserve(c.Offer.Reservation, 1)
		b.reserved[c.Offer.Reservation]++
		b.tables, b.cache = map[int]*claims.Table{}, pack.NewOfferCache()
	}
	if !slices.ContainsFunc(pods, b.Ruled) {
		return
	}
	node := &snapshot.Node{Name: "\x00" + c.Name + strconv.Itoa(len(b.planned)), Labels: c.Labels, Taints: c.Taints}
	b.planned = append(b.planned, b.sp.Foresee(node, pods))
	b.admits = nil // there may be a new class of hosts
}

// most is what the claim takes of each of its pool's limits at most, with any of its offers.
func (b *Fleet) most(pool int, c *plan.Claim) []int64 {
	limits := b.limits[pool]
	out := make([]int64, len(limits))
	if len(limits) == 0 {
		return out
	}
	types := map[string]bool{c.Offer.InstanceType: true}
	for o := range c.Alternatives.All() {
		types[o.InstanceType] = true
	}
	first, end := b.sp.PoolMachines(pool)
	for m := first; m < end; m++ {
		if !types[b.sp.Machines[m].Type.Name] {
			continue
		}
		for i := range limits {
			out[i] = max(out[i], pack.Share(b.sp.Machines[m].Capacity, limits[i].Name))
		}
	}
	for i := range limits {
		out[i] = max(out[i], pack.Share(c.Capacity, limits[i].Name))
	}
	return out
}

// Room is what a node has left.
func (b *Fleet) Room(n int) []int64 { return b.hosts[n].Room }

// Stays reports whether the node may hold pods: it is neither leaving nor gone.
func (b *Fleet) Stays(n int) bool { return b.stays[n] }

// Need is what a pod takes, in the order of Room.
func (b *Fleet) Need(pod snapshot.PodIndex) []int64 {
	return b.sp.Vector(b.Snapshot.Templates[b.Snapshot.Pods[pod].Template].Requests)
}

// Admits reports whether the labels and taints of a node let the pod be there, preferences
// aside.
func (b *Fleet) Admits(pod snapshot.PodIndex, n int) bool {
	template := b.Snapshot.Pods[pod].Template
	places, known := b.admits[template]
	if !known {
		if first := b.wish(template); first.possible {
			v := b.sp.Variant(&b.Snapshot.Templates[template], first.dropped)
			for _, a := range v.Alternatives {
				places = append(places, b.sp.Find(a))
			}
		}
		if b.admits == nil {
			b.admits = map[snapshot.TemplateIndex][]*feasible.Places{}
		}
		b.admits[template] = places
	}
	class := b.hosts[n].Class
	return slices.ContainsFunc(places, func(p *feasible.Places) bool { return p.HostClasses.Has(class) })
}

// Steps is the effort spent so far.
func (b *Fleet) Steps() int64 { return b.steps }

// Take has an answer come true for all later questions: its nodes are gone, its pods are
// where it puts them.
func (b *Fleet) Take(q Question, a Answer) {
	b.limits = b.limitsOf(&q)
	for _, n := range q.Nodes {
		b.stays[n] = false
	}
	for _, l := range a.Existing {
		b.give(l.Node, l.Pods)
	}
	for i := range a.Claims {
		b.buy(&a.Claims[i], a.Claims[i].Pods)
	}
}

// Replica is a claim for one more node of a static pool, as far as its limits, with what the
// question does to them, and what is offered let it be.
func (b *Fleet) Replica(pool int, q Question) (plan.Claim, bool) {
	claim, ok := claims.Replica(b.Snapshot, &b.Snapshot.Pools[pool], maps.Clone(b.reserved))
	if !ok {
		return claim, false
	}
	limits := b.limitsOf(&q)
	for i, n := range b.most(pool, &claim) {
		if limits[pool][i].Value < n {
			return claim, false
		}
	}
	return claim, true
}

// Bound is a price that no new nodes for some pods can undercut, on top of the nodes that
// stay as they were at first: proven, as for every plan.
func (b *Fleet) Bound(pods []snapshot.PodIndex, effort int64) model.Money {
	var hosts []feasible.Host
	for n := range b.before {
		if b.stays[n] {
			hosts = append(hosts, b.before[n])
		}
	}
	set, lots := b.compile(b.sp.Among(hosts, nil), pods, func(t snapshot.TemplateIndex) feasible.Dropped {
		return b.sp.AllDropped(&b.Snapshot.Templates[t])
	})
	price, steps := pack.LowerBound(set, lots, effort)
	b.steps += steps
	return price
}

// compile groups pods into shapes and lots. Pods that fit nowhere are left out.
func (b *Fleet) compile(sp *feasible.Space, pods []snapshot.PodIndex, dropped func(template snapshot.TemplateIndex) feasible.Dropped) (*shape.Set, []pack.Lot) {
	byTemplate := map[snapshot.TemplateIndex]int{}
	var wishes []shape.Wish
	for _, p := range pods {
		t := b.Snapshot.Pods[p].Template
		if first := b.wish(t); !first.possible {
			continue
		} else if _, ok := byTemplate[t]; !ok {
			byTemplate[t] = len(wishes)
			wishes = append(wishes, shape.Wish{Template: t, Dropped: dropped(t)})
		}
		w := &wishes[byTemplate[t]]
		w.Pods = append(w.Pods, p)
	}
	set := shape.Compile(sp, wishes)
	lots := make([]pack.Lot, len(set.Shapes))
	for i := range set.Shapes {
		lots[i] = pack.Lot{Shape: i, Count: len(set.Shapes[i].Pods)}
	}
	return set, lots
}

// Values says what each of some pods costs in the best of fleets on new nodes, in
// millionths an hour; 0 for pods that no new node holds.
func (b *Fleet) Values(pods []snapshot.PodIndex, effort int64) []float64 {
	set, lots := b.compile(b.sp.Among(nil, nil), pods, func(t snapshot.TemplateIndex) feasible.Dropped { return b.wish(t).dropped })
	value := make(map[snapshot.PodIndex]float64, len(pods))
	for i, v := range pack.Values(set, lots, effort) {
		for _, p := range set.Shapes[i].Pods {
			value[p] = v
		}
	}
	out := make([]float64, len(pods))
	for i, p := range pods {
		out[i] = value[p]
	}
	return out
}
