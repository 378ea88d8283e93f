// Package fleet answers where pods that have a place could be instead, again and again for one
// snapshot: on nodes that are there, and on nodes that would have to be bought. It also says
// where kube-scheduler is expected to put pods that move.
package fleet

import (
	"maps"
	"slices"

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

// Fleet finds other places for pods that have one: on nodes that are there, and on nodes that would have to
// be bought. It is made once for a snapshot and asked again and again. It does not change: With returns the
// fleet after an answer has been carried out.
//
//	New ──▶ Fleet ── Ask ──▶ Answer
//	          ▲                │
//	          └───── With ◀────┘
//
// Pods and nodes are numbered as in its snapshot, which is in order. A fleet and those made from it belong
// to one goroutine, because they share caches.
type Fleet struct {
	*facts
	sp       *feasible.Space
	limits   [][]model.Amount
	hosts    []*feasible.Host     // by node; nil for nodes that are leaving or gone
	planned  []feasible.Host      // nodes to come, with what is to be on them
	ruledOn  []snapshot.NodeIndex // nodes with pods that some rule between pods looks at, ascending
	reserved map[string]int64     // instances of reservations that are taken
	// What was found out about the space as it is.
	tables map[snapshot.PoolIndex]*claims.Table
	cache  *pack.OfferCache
	admits map[snapshot.TemplateIndex][]*feasible.Places
}

// facts are the same for all fleets of a snapshot, with what was found out about them.
type facts struct {
	Snapshot  *snapshot.Snapshot
	tiers     [][]snapshot.PoolIndex
	before    []*feasible.Host // as they were at first
	ruled     []bool           // by template: some rule between pods looks at it, or it at others
	ties      []ties           // by template
	set       *shape.Set       // of one pod of each template
	component []Component      // by template: those of one component are what its rules may speak about
	alike     []string         // by pool: what it sells, empty where limits make it differ from others
	first     map[snapshot.TemplateIndex]wishFor
	whys      map[why]reason.Refusal
	effort    effort
}

// effort is what was spent on questions, in steps.
type effort struct{ spent int64 }

// wishFor is what a template asks for once the preferences that no node can meet are given up.
type wishFor struct {
	dropped  feasible.Dropped
	possible bool
}

// New is the fleet of a snapshot. What the plan places and buys is done already. Compiled is what was
// compiled before, or nil.
func New(s snapshot.Sorted, p *plan.Plan, compiled *feasible.Compiled) *Fleet {
	f := &Fleet{
		facts:    &facts{Snapshot: s.Snapshot, tiers: search.TiersOf(s.Snapshot), first: map[snapshot.TemplateIndex]wishFor{}, whys: map[why]reason.Refusal{}},
		limits:   search.RemainingLimits(s.Snapshot),
		hosts:    make([]*feasible.Host, len(s.Nodes)),
		reserved: map[string]int64{}, tables: map[snapshot.PoolIndex]*claims.Table{}, cache: pack.NewOfferCache(), admits: map[snapshot.TemplateIndex][]*feasible.Places{},
	}
	f.sp = feasible.CompileWith(s.Snapshot, f.templates(), compiled)
	for p := range f.limits { // what replaces a node is a claim, and none is made for a node of a group
		if f.Snapshot.Pools[p].Group != nil {
			own := len(f.Snapshot.Pools[p].Limits)
			f.limits[p] = slices.Concat([]model.Amount{{Name: model.Nodes}}, f.limits[p][own:])
		}
	}
	for i := range f.sp.Hosts {
		f.hosts[f.sp.Hosts[i].Node] = &f.sp.Hosts[i]
	}
	f.alike = make([]string, len(f.limits))
	for p := range snapshot.PoolIndex(len(f.alike)) {
		if pool := &f.Snapshot.Pools[p]; pool.MayLaunch() && len(f.limits[p]) == 0 {
			f.alike[p] = f.sp.Range(p)
		}
	}
	f.before = slices.Clone(f.hosts)
	f.findRuled()
	f.begin(p)
	return f
}

// templates are those of all pods: any may have to move.
func (f *Fleet) templates() []snapshot.TemplateIndex {
	var out []snapshot.TemplateIndex
	for _, pod := range f.models() {
		out = append(out, f.Snapshot.Pods[pod].Template)
	}
	return out
}

// models are one pod of each template that pods have. There may be templates without any.
func (f *Fleet) models() []snapshot.PodIndex {
	seen := make([]bool, len(f.Snapshot.Templates))
	var out []snapshot.PodIndex
	for i := range f.Snapshot.Pods {
		if t := f.Snapshot.Pods[i].Template; !seen[t] {
			seen[t] = true
			out = append(out, snapshot.PodIndex(i))
		}
	}
	return out
}

// Room is what a node has left.
func (f *Fleet) Room(n snapshot.NodeIndex) []int64 { return f.hosts[n].Room }

// Stays reports whether the node may hold pods: it is neither leaving nor gone.
func (f *Fleet) Stays(n snapshot.NodeIndex) bool { return f.hosts[n] != nil }

// Need is what a pod takes, in the order of Room.
func (f *Fleet) Need(pod snapshot.PodIndex) []int64 {
	return f.sp.Vector(f.Snapshot.Templates[f.Snapshot.Pods[pod].Template].Requests)
}

// Admits reports whether the labels and taints of a node let the pod be there, preferences
// aside.
func (f *Fleet) Admits(pod snapshot.PodIndex, n snapshot.NodeIndex) bool {
	template := f.Snapshot.Pods[pod].Template
	places, known := f.admits[template]
	if !known {
		if first := f.wish(template); first.possible {
			v := f.sp.Variant(&f.Snapshot.Templates[template], first.dropped)
			for _, a := range v.Alternatives {
				places = append(places, f.sp.Find(a))
			}
		}
		f.admits[template] = places
	}
	class := f.hosts[n].Class
	return slices.ContainsFunc(places, func(p *feasible.Places) bool { return p.HostClasses.Has(class) })
}

// Steps is the effort spent so far, on all fleets of the snapshot.
func (f *Fleet) Steps() int64 { return f.effort.spent }

// Replica is a claim for one more node of a static pool, if the pool may launch it, and the offers and the
// pool's limits, as the question changes them, allow it.
func (f *Fleet) Replica(pool snapshot.PoolIndex, q Question) (plan.Claim, bool) {
	if !f.Snapshot.Pools[pool].MayReplenish() {
		return plan.Claim{}, false
	}
	claim, ok := claims.Replica(f.Snapshot, &f.Snapshot.Pools[pool], maps.Clone(f.reserved))
	if !ok {
		return claim, false
	}
	limits := f.limitsOf(&q)
	for i, n := range f.most(pool, &claim) {
		if limits[pool][i].Value < n {
			return claim, false
		}
	}
	return claim, true
}

// Bound is a price that no new nodes for some pods can undercut, on top of the nodes that
// stay as they were at first: proven, as for every plan.
func (f *Fleet) Bound(pods []snapshot.PodIndex, effort int64) model.Money {
	var hosts []feasible.Host
	for n, h := range f.before {
		if f.Stays(snapshot.NodeIndex(n)) {
			hosts = append(hosts, *h)
		}
	}
	set, lots := f.compile(f.sp.Among(hosts, nil), pods, func(t snapshot.TemplateIndex) feasible.Dropped {
		return f.sp.AllDropped(&f.Snapshot.Templates[t])
	})
	price, steps := pack.LowerBound(set, lots, effort)
	f.effort.spent += steps
	return price
}

// compile groups pods into shapes and lots. Pods that fit nowhere are left out.
func (f *Fleet) compile(sp *feasible.Space, pods []snapshot.PodIndex, dropped func(template snapshot.TemplateIndex) feasible.Dropped) (*shape.Set, []pack.Lot) {
	byTemplate := map[snapshot.TemplateIndex]int{}
	var wishes []shape.Wish
	for _, p := range pods {
		t := f.Snapshot.Pods[p].Template
		if first := f.wish(t); !first.possible {
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
func (f *Fleet) Values(pods []snapshot.PodIndex, effort int64) []float64 {
	set, lots := f.compile(f.sp.Among(nil, nil), pods, func(t snapshot.TemplateIndex) feasible.Dropped { return f.wish(t).dropped })
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
