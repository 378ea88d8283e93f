package fleet

import (
	"cmp"
	"math"
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/shape"
	"tenon/core/snapshot"
	"tenon/core/topology"
)

// Forecast is where kube-scheduler is expected to put pods that are evicted and made again. It
// does not know a plan: it spreads pods over all nodes with room, so a pod may fill the room that
// the plan keeps for a larger one.
//
//	Try an answer ──▶ pods that find no room ──▶ the next Try: its pods are where the scheduler put them
//	                                         └─▶ Drop: as if it had not been tried
//
// Pods come one after the other, in each of some orders. The pods are to be evicted in the best order, but
// the worst one counts, because budgets and slow pods can change the order. Pods that rules between pods
// concern are expected in the domains in which the answer puts them, and pods with host ports or
// partners on one node exactly where it puts them.
//
// For the scheduler the room of virtual pods is free. They get what it leaves.
type Forecast struct {
	fleet    *Fleet
	set      *shape.Set                     // of one pod of each template
	shapes   map[snapshot.TemplateIndex]int // by template
	sites    []site                         // those of existing nodes have the nodes' numbers
	zones    map[string]zoneIndex           // numbers of the sites' zones
	kinds    []kindIndex                    // by template: pods of one workload are of one kind
	inZones  map[kindIn]int64
	askers   map[snapshot.TemplateIndex][]feasible.Asker // without preferences that cannot be met; none if no node can take such pods
	reaches  map[origin]*reach
	planned  map[snapshot.PodIndex]siteIndex // site by pod, of what is tried
	virtual  []podOnSite                     // where virtual pods have their room
	free     bool                            // of the domains in which the answer puts pods
	takeRoom bool                            // of virtual pods, before all other room
	guided   bool                            // the scheduler is led to the planned sites
	turns    map[snapshot.PodIndex]int       // of pods that change zones, see zoneTurns
	tried    []podOnSite
	opened   int         // sites to come of what is tried
	closed   []siteIndex // sites of what is tried that are to go
	scratch  []siteIndex // memory that the next choice of a site uses again
}

// Numbers of a forecast's own: of its sites, of their zones, and of the workloads of pods.
type (
	siteIndex int32
	zoneIndex int32
	kindIndex int32
)

// noSite stands for a pod that finds no room.
const noSite siteIndex = -1

// siteOf is the site of an existing node.
func siteOf(n snapshot.NodeIndex) siteIndex { return siteIndex(n) }

// site is a node that may take pods, there already or to come.
type site struct {
	open   bool
	class  int
	zone   zoneIndex
	room   []int64
	size   []int64                          // that pods and daemons share
	attach []model.Amount                   // what is left of each driver's volumes; nil is without limit
	pods   map[snapshot.TemplateIndex]int64 // by template
	kinds  map[kindIndex]int64              // pods by kind
	groups map[topology.HostGroup]int64     // pods by host group
	bound  []*topology.Rules                // of pods that keep others away
}

// kindIn is the pods of a kind in a zone.
type kindIn struct {
	zone zoneIndex
	kind kindIndex
}

// answered is what is known of a question.
type answered int8

const (
	unasked answered = iota
	yes
	no
)

// podOnSite is a pod on a site.
type podOnSite struct {
	pod  snapshot.PodIndex
	site siteIndex
}

// NewForecast begins with the fleet as it is, with what the plan of New places and buys.
func (f *Fleet) NewForecast() *Forecast {
	own := *f
	own.sp = f.sp.Fork() // nodes are foreseen in it that may not come
	own.admits = map[snapshot.TemplateIndex][]*feasible.Places{}
	out := &Forecast{
		fleet: &own, set: f.set, shapes: map[snapshot.TemplateIndex]int{}, zones: map[string]zoneIndex{}, kinds: f.kinds(), inZones: map[kindIn]int64{},
		askers: map[snapshot.TemplateIndex][]feasible.Asker{}, reaches: map[origin]*reach{}, sites: make([]site, len(f.hosts)),
	}
	for i := range out.set.Shapes {
		for _, p := range out.set.Shapes[i].Pods {
			out.shapes[f.Snapshot.Pods[p].Template] = i
		}
	}
	for n, h := range f.hosts {
		if h == nil {
			continue
		}
		node := &f.Snapshot.Nodes[n]
		out.sites[n] = out.newSite(h.Class, node.Zone, h.Room, f.sp.Vector(node.Allocatable))
		out.sites[n].attach = slices.Clone(h.Volumes)
		out.sites[n].open = node.Initialized && !node.Life.Unready
		for _, p := range h.Bound {
			if f.isVirtual(p) {
				at := siteIndex(n)
				out.virtual = append(out.virtual, podOnSite{p, at})
				out.clear(p, at)
				continue
			}
			out.enter(&out.sites[n], p, 1)
		}
	}
	return out
}

func (f *Forecast) newSite(class int, zone string, room, size []int64) site {
	number, known := f.zones[zone]
	if !known {
		number = zoneIndex(len(f.zones))
		f.zones[zone] = number
	}
	return site{class: class, zone: number, room: slices.Clone(room), size: size, pods: map[snapshot.TemplateIndex]int64{}, kinds: map[kindIndex]int64{}, groups: map[topology.HostGroup]int64{}}
}

// Landing is where the pods of an answer are expected.
type Landing struct {
	// Strays find no room in the worst of orders.
	Strays []snapshot.PodIndex
	// Evict is the best order.
	Evict []snapshot.PodIndex
	// Guide are the nodes that the scheduler is to avoid meanwhile; none if the pods are not guided.
	Guide []snapshot.NodeIndex
}

// Try places the pods of an answer.
func (f *Forecast) Try(q Question, a Answer) Landing {
	var out Landing
	f.countLeaving(-1) // of what was tried last: its pods are elsewhere now
	f.planned, f.tried, f.closed, f.opened = map[snapshot.PodIndex]siteIndex{}, nil, nil, 0
	for _, n := range q.Nodes {
		if at := siteOf(n); f.sites[at].open {
			f.sites[at].open = false
			f.closed = append(f.closed, at)
		}
	}
	for _, v := range f.virtual {
		f.planned[v.pod] = v.site
	}
	for _, l := range a.Existing {
		for _, p := range l.Pods {
			f.planned[p] = siteOf(l.Node)
		}
	}
	for i := range a.Claims {
		f.open(&a.Claims[i])
	}
	out.Guide = f.guide(q, a)
	if f.guided = len(out.Guide) > 0; f.guided {
		f.turns = f.zoneTurns(q)
	}
	best := math.MaxInt
	var tried [][]snapshot.PodIndex
	for _, before := range f.orders() {
		pods := slices.DeleteFunc(slices.Clone(q.Pods), f.fleet.isVirtual)
		slices.SortFunc(pods, before)
		if slices.ContainsFunc(tried, func(same []snapshot.PodIndex) bool { return slices.Equal(same, pods) }) {
			continue
		}
		tried = append(tried, pods)
		f.withdraw()
		some := append(f.place(pods), f.displaced(pods)...)
		if len(some) > len(out.Strays) {
			out.Strays = some
		}
		if len(some) < best {
			best, out.Evict = len(some), pods
		}
	}
	f.withdraw()
	f.place(out.Evict)
	return out
}

// orders are those in which pods could be evicted, the best guess first: large ones before small ones,
// by what of them is scarce on the nodes that take them, and at last some that are as good as random. Guided pods
// are evicted receiver by receiver, and those that change zones before all others.
func (f *Forecast) orders() []func(x, y snapshot.PodIndex) int {
	falling := func(size func(model.Resources) int64) func(x, y snapshot.PodIndex) int {
		return func(x, y snapshot.PodIndex) int {
			return cmp.Or(cmp.Compare(size(f.fleet.requests(y)), size(f.fleet.requests(x))), f.fleet.largeFirst(x, y))
		}
	}
	mixed := func(factor uint32) func(x, y snapshot.PodIndex) int {
		return func(x, y snapshot.PodIndex) int {
			return cmp.Or(cmp.Compare(uint32(x)*factor, uint32(y)*factor), cmp.Compare(x, y))
		}
	}
	if f.guided {
		return []func(x, y snapshot.PodIndex) int{func(x, y snapshot.PodIndex) int {
			return cmp.Or(cmp.Compare(f.turns[x], f.turns[y]), cmp.Compare(f.planned[x], f.planned[y]), f.fleet.largeFirst(x, y))
		}}
	}
	return []func(x, y snapshot.PodIndex) int{
		f.fleet.largeFirst,
		falling(func(r model.Resources) int64 { return r.Bulk() + r.Memory }),
		falling(func(r model.Resources) int64 { return r.Memory }),
		falling(func(r model.Resources) int64 { return r.CPU }),
		mixed(2_654_435_761), mixed(2_246_822_519),
	}
}

// largeFirst puts pods that ask for much before others.
func (f *Fleet) largeFirst(x, y snapshot.PodIndex) int {
	return cmp.Or(cmp.Compare(f.requests(y).Bulk(), f.requests(x).Bulk()), cmp.Compare(x, y))
}

// place puts pods where the scheduler would, one after the other, and returns those that find no room.
func (f *Forecast) place(pods []snapshot.PodIndex) []snapshot.PodIndex {
	var strays []snapshot.PodIndex
	for _, p := range pods {
		at := f.choose(p)
		if at == noSite {
			strays = append(strays, p)
			continue
		}
		f.put(p, at, 1)
		f.tried = append(f.tried, podOnSite{p, at})
	}
	return strays
}

// displaced are the virtual pods that find no room beside the others: as these are placed, if they went to any other
// domain, or if they took the room of virtual pods first. A pod that goes elsewhere than forecast finds
// room there, and a node is bought for the pod that loses its room.
func (f *Forecast) displaced(pods []snapshot.PodIndex) []snapshot.PodIndex {
	if len(f.virtual) == 0 {
		return nil
	}
	most, placed := f.without(), f.tried
	for _, v := range placed {
		f.put(v.pod, v.site, -1)
	}
	for _, first := range []bool{false, true} {
		f.tried, f.free, f.takeRoom = nil, true, first
		f.countLeaving(-1)
		f.place(pods)
		f.countLeaving(1)
		f.free, f.takeRoom = false, false // virtual pods stay in their domains
		if some := f.without(); len(some) > len(most) {
			most = some
		}
		f.withdraw()
	}
	for _, v := range placed {
		f.put(v.pod, v.site, 1)
	}
	f.tried = placed
	return most
}

// countLeaving takes the pods of the sites that are to go out of the counts, or puts them back: n is -1 or 1.
func (f *Forecast) countLeaving(n int64) {
	for _, at := range f.closed {
		for _, p := range f.fleet.hosts[at].Bound {
			if !f.fleet.isVirtual(p) {
				f.enter(&f.sites[at], p, n)
			}
		}
	}
}

// without are the virtual pods that find no room as things are.
func (f *Forecast) without() []snapshot.PodIndex {
	var some []snapshot.PodIndex
	var seated []podOnSite
	homeless := slices.DeleteFunc(slices.Clone(f.virtual), func(v podOnSite) bool {
		stays := f.holds(v.pod, v.site)
		if stays {
			f.put(v.pod, v.site, 1)
			seated = append(seated, v)
		}
		return stays
	})
	for _, v := range homeless {
		at := f.other(v.pod)
		if at == noSite {
			some = append(some, v.pod)
			continue
		}
		f.put(v.pod, at, 1)
		seated = append(seated, podOnSite{v.pod, at})
	}
	for _, v := range seated { // the next pods do not see them either
		f.put(v.pod, v.site, -1)
	}
	return some
}

// other is the first site that holds a virtual pod, or the planned one where it may be on no other; -1
// if there is none.
func (f *Forecast) other(p snapshot.PodIndex) siteIndex {
	f.fleet.effort.spent += int64(len(f.sites)) * siteEffort
	if isBound(f.shapeOf(p)) {
		if f.holds(p, f.planned[p]) {
			return f.planned[p]
		}
		return noSite
	}
	for _, i := range f.within(p, f.shapeOf(p)) {
		if f.holds(p, i) {
			return i
		}
	}
	return noSite
}

// holds reports whether a pod has room on a site, and may be there.
func (f *Forecast) holds(p snapshot.PodIndex, at siteIndex) bool {
	s := f.shapeOf(p)
	return f.sites[at].open && f.sites[at].fits(s) && (isBound(s) || f.admitted(p, s, at))
}

func (f *Forecast) shapeOf(p snapshot.PodIndex) *shape.Shape {
	return &f.set.Shapes[f.shapes[f.fleet.Snapshot.Pods[p].Template]]
}

// clear gives a site the room of a pod.
func (f *Forecast) clear(p snapshot.PodIndex, at siteIndex) {
	for d, need := range f.fleet.Need(p) {
		f.sites[at].room[d] += need
	}
}

// isVirtual tells pods that only stand for the room of a buffer.
func (f *Fleet) isVirtual(p snapshot.PodIndex) bool { return f.Snapshot.Pods[p].Tie.Virtual }

// withdraw takes pods away that were placed.
func (f *Forecast) withdraw() {
	for _, v := range f.tried {
		f.put(v.pod, v.site, -1)
	}
	f.tried = nil
}

func (f *Fleet) requests(p snapshot.PodIndex) model.Resources {
	return f.Snapshot.Templates[f.Snapshot.Pods[p].Template].Requests
}

// open adds the node of a claim.
func (f *Forecast) open(c *plan.Claim) {
	fleet, at := f.fleet, siteIndex(len(f.sites))
	room := fleet.sp.Vector(c.Allocatable.Sub(c.Requests)) // daemons take their part of it
	for _, p := range c.Pods {
		f.planned[p] = at
		for d, n := range fleet.Need(p) {
			room[d] += n
		}
	}
	h := fleet.sp.Foresee(&snapshot.Node{Name: "\x00" + c.Name + c.Offer.InstanceType, Labels: c.Labels, Taints: c.Taints}, nil)
	s := f.newSite(h.Class, c.Offer.Zone, room, fleet.sp.Vector(c.Allocatable))
	s.open = true
	f.sites = append(f.sites, s)
	f.opened++
}

// Drop takes back what was tried last.
func (f *Forecast) Drop() {
	f.withdraw()
	for _, n := range f.closed {
		f.sites[n].open = true
	}
	f.sites = f.sites[:len(f.sites)-f.opened]
	f.closed, f.opened = nil, 0
}

// choose is the site that the scheduler chooses for a pod; -1 if it finds none.
func (f *Forecast) choose(p snapshot.PodIndex) siteIndex {
	s := f.shapeOf(p)
	f.fleet.effort.spent += int64(len(f.sites)) * siteEffort
	planned := f.planned[p]
	if isBound(s) {
		if f.sites[planned].fits(s) {
			return planned
		}
		return noSite
	}
	fit := slices.DeleteFunc(f.within(p, s), func(i siteIndex) bool {
		at := &f.sites[i]
		return !at.open || !at.fits(s) || !hostRules(s, at)
	})
	if f.guided && f.heedsMark(p) {
		fit = f.led(fit, planned)
	}
	if f.takeRoom {
		if room := f.withVirtual(fit); len(room) > 0 {
			fit = room
		}
	}
	if len(fit) < 2 {
		if len(fit) == 1 {
			return fit[0]
		}
		return noSite
	}
	return f.best(f.fleet.Snapshot.Pods[p].Template, s.Need, fit)
}

// withVirtual are the sites among some that have room for virtual pods.
func (f *Forecast) withVirtual(among []siteIndex) []siteIndex {
	return slices.DeleteFunc(slices.Clone(among), func(at siteIndex) bool {
		return !slices.ContainsFunc(f.virtual, func(v podOnSite) bool { return v.site == at })
	})
}

// siteEffort is what it takes to look at one site for one pod.
const siteEffort = 20

// put puts a pod on a site, or takes it away: n is 1 or -1.
func (f *Forecast) put(p snapshot.PodIndex, at siteIndex, n int64) {
	for d, need := range f.fleet.Need(p) {
		f.sites[at].room[d] -= n * need
	}
	for _, v := range f.shapeOf(p).Attach {
		f.sites[at].take(v.Driver, n)
	}
	f.enter(&f.sites[at], p, n)
}

// fits reports whether pods of a shape have room.
func (s *site) fits(pod *shape.Shape) bool {
	if !feasible.Fits(pod.Need, s.room) {
		return false
	}
	return !slices.ContainsFunc(s.attach, func(left model.Amount) bool {
		var need int64
		for _, v := range pod.Attach {
			if v.Driver == left.Name {
				need++
			}
		}
		return need > max(left.Value, 0)
	})
}

// take counts volumes of a driver that are attached: n may be less than zero.
func (s *site) take(driver string, n int64) {
	for i := range s.attach {
		if s.attach[i].Name == driver {
			s.attach[i].Value -= n
		}
	}
}

// enter counts a pod that is on a site, or is there no more.
func (f *Forecast) enter(at *site, p snapshot.PodIndex, n int64) {
	t := f.fleet.Snapshot.Pods[p].Template
	at.pods[t] += n
	at.kinds[f.kinds[t]] += n
	f.inZones[kindIn{at.zone, f.kinds[t]}] += n
	rules := f.set.Registry.Bound(&f.fleet.Snapshot.Templates[t])
	for _, g := range rules.HostCounts {
		at.groups[g] += n
	}
	switch {
	case len(rules.HostCaps) == 0:
	case n > 0 && at.pods[t] == 1:
		at.bound = append(at.bound, rules)
	case at.pods[t] == 0:
		at.bound = slices.DeleteFunc(at.bound, func(r *topology.Rules) bool { return r == rules })
	}
}
