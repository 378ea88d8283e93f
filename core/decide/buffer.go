package decide

import (
	"fmt"
	"maps"
	"slices"

	"tenon/core/catalog"
	"tenon/core/disrupt"
	"tenon/core/plan"
	"tenon/core/provision"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Virtual pods of buffers come last: they get the room that the plan for real pods leaves, and no decision
// about a real pod considers them. So a new pod takes their room at once, and the next plan finds other
// room for the buffer. Those of ProvisioningRequests come before those of CapacityBuffers: users have been
// told of that room.

// filler finds room for the buffers of a snapshot, beside a plan for its pods.
type filler struct {
	given snapshot.Sorted
	plan  *plan.Plan
	// virtual are the pods that stand for the room, behind all others; of are their buffers.
	virtual []snapshot.Pod
	of      []int
	// waves are the virtual pods in the order in which they get room, those that get none left out once that is known.
	waves []wave
	// host is the existing node on which each has room, empty for none.
	host []string
	// short is how many virtual pods have no room on nodes that are there or planned for real pods.
	short int
	// starved are the pools whose limits keep real pods waiting. Buffers get nothing there: no node is
	// bought or kept for them.
	starved map[string]bool
	// types are what each pool may launch.
	types map[string][]catalog.Type
}

// wave are virtual pods that get room together: those from one number to another that have none yet.
type wave struct {
	from, to int
	// buys says that nodes may be bought; whole that without room for all of them, none gets any.
	buys, whole bool
}

func newFiller(s snapshot.Sorted, p *plan.Plan) *filler {
	f := &filler{given: s, plan: p, starved: starved(p), types: map[string][]catalog.Type{}}
	for i := range s.Pools {
		f.types[s.Pools[i].Name] = s.Catalogs[s.Pools[i].Catalog].Types
	}
	order := oldestFirst(s.Buffers)
	held := func(buys bool) int {
		return f.addPods(order, func(b *snapshot.Buffer) bool { return b.Booking != nil && b.Booking.Held && b.Booking.Buys == buys })
	}
	held(false)
	mayBuy := held(true)
	f.addWave(wave{to: len(f.virtual)}) // what there is goes to all that were told of their room, before more is bought
	f.addWave(wave{from: mayBuy, to: len(f.virtual), buys: true})
	for _, buys := range []bool{false, true} {
		for at, i := range order {
			asks := &s.Buffers[i]
			if asks.Booking == nil || asks.Booking.Held || asks.Booking.Buys != buys || at > 0 && asks.IsSetBeside(&s.Buffers[order[at-1]]) {
				continue
			}
			f.addWave(wave{from: f.addPods(order, asks.IsSetBeside), to: len(f.virtual), buys: buys, whole: true})
		}
	}
	f.addWave(wave{from: f.addPods(order, func(b *snapshot.Buffer) bool { return b.Booking == nil }), to: len(f.virtual), buys: true})
	f.host = make([]string, len(f.virtual))
	return f
}

// addPods adds the virtual pods of some buffers, in order, and returns the number of the first.
func (f *filler) addPods(order []int, has func(*snapshot.Buffer) bool) int {
	from := len(f.virtual)
	for _, i := range order {
		b := &f.given.Buffers[i]
		if !has(b) {
			continue
		}
		for n := range b.Pods {
			f.virtual = append(f.virtual, snapshot.Pod{
				Namespace: b.Namespace, Name: fmt.Sprintf("%s-%d", b.PodName(), n+1), Template: b.Template,
				Created: b.Created, Refused: b.Refused,
			})
			f.of = append(f.of, i)
		}
	}
	return from
}

func (f *filler) addWave(w wave) {
	if w.to > w.from {
		f.waves = append(f.waves, w)
	}
}

// oldestFirst are the numbers of buffers in the order of their age.
func oldestFirst(buffers []snapshot.Buffer) []int {
	out := make([]int, len(buffers))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int { return buffers[a].Created.Compare(buffers[b].Created) })
	return out
}

// planned begins the names of nodes that are bought for real pods, and bought those of nodes that are bought for virtual
// ones; no other name begins like this.
const (
	planned = "\x00"
	bought  = "\x01"
)

// find is the plan for virtual pods.
func (f *filler) find(s snapshot.Sorted, effort int64) plan.Plan {
	return provision.Plan(s, provision.Options{Effort: effort, Unadvised: true, Unproven: true})
}

// layout is where virtual pods have room.
type layout struct {
	host    []string          // by pod: the node, empty for none
	verdict []*reason.Verdict // by pod: why it has none
	claims  []plan.Claim      // the nodes to be bought
	waves   []wave            // those that got what they asked for
	steps   int64
}

// search finds room for one wave after the other in a cluster. What one has got the next cannot get.
func (f *filler) search(s snapshot.Sorted, effort int64) layout {
	out := layout{host: make([]string, len(f.virtual)), verdict: make([]*reason.Verdict, len(f.virtual))}
	base := len(f.given.Pods)
	for _, w := range f.waves {
		found := f.find(f.asking(s, w, out.host), effort)
		out.steps += found.Solve.Steps
		for _, e := range found.Existing {
			for _, pod := range e.Pods {
				out.host[int(pod)-base] = e.Node
			}
		}
		for _, u := range found.Unplaced {
			out.verdict[int(u.Pod)-base] = u.Verdict
		}
		if w.whole && len(found.Unplaced) > 0 {
			for i := range found.Claims { // the attempt ends here; it says where pods would have had room
				for _, pod := range found.Claims[i].Pods {
					out.host[int(pod)-base] = bought
				}
			}
			continue
		}
		for i := range found.Claims {
			n := f.coming(&found.Claims[i], fmt.Sprintf("%s%d-", bought, len(out.claims)))
			s.Nodes = append(s.Nodes, n)
			for _, pod := range found.Claims[i].Pods {
				out.host[int(pod)-base] = n.Name
			}
			out.claims = append(out.claims, found.Claims[i])
		}
		for i := w.from; i < w.to; i++ {
			s.Pods[base+i].Node = out.host[i]
		}
		out.waves = append(out.waves, w)
	}
	return out
}

// asking is the cluster in which the virtual pods of one wave want a place that have none.
func (f *filler) asking(s snapshot.Sorted, w wave, host []string) snapshot.Sorted {
	now := *s.Snapshot
	now.Pods = slices.Clone(s.Pods)
	for i := w.from; i < w.to; i++ {
		now.Pods[len(f.given.Pods)+i].Pending = host[i] == ""
	}
	if !w.buys {
		now.Pools = slices.Clone(s.Pools)
		for i := range now.Pools {
			if now.Pools[i].MayLaunch() {
				now.Pools[i].Unready.Code = reason.NothingBought
			}
		}
	}
	s.Snapshot = &now
	return s
}

// short counts the virtual pods of waves that have no room by a layout unless something is bought. Pods of other waves got
// nothing when the plan was made.
func (l *layout) short(waves []wave) int {
	lacks := map[int]bool{}
	for _, w := range waves {
		for i := w.from; i < w.to; i++ {
			if l.host[i] == "" || l.host[i][0] == bought[0] {
				lacks[i] = true
			}
		}
	}
	return len(lacks)
}

// fill enters into the plan which room the buffers have, and what has to be bought for them.
func (f *filler) fill(effort int64) {
	if len(f.given.Buffers) == 0 {
		return
	}
	found := f.search(f.settled(planned), effort)
	f.plan.Rooms, f.plan.Solve.Steps = f.rooms(&found), f.plan.Solve.Steps+found.steps
	f.waves = found.waves
	f.short = found.short(f.waves)
	for _, w := range f.waves {
		for i := w.from; i < w.to; i++ {
			if at := found.host[i]; at != "" && at[0] != planned[0] && at[0] != bought[0] {
				f.host[i] = at
			}
		}
	}
	names := map[string]int{}
	for i := range f.plan.Claims {
		names[f.plan.Claims[i].Pool]++
	}
	for _, c := range found.claims {
		names[c.Pool]++
		c.Name, c.Pods, c.Spare = fmt.Sprintf("%s-%d", c.Pool, names[c.Pool]), nil, true
		f.plan.Spare = append(f.plan.Spare, c)
	}
}

// rooms counts where the virtual pods are by a layout.
func (f *filler) rooms(found *layout) []plan.Room {
	out := make([]plan.Room, len(f.given.Buffers))
	for i := range out {
		out[i].Buffer = i
	}
	for i, at := range found.host {
		switch room := &out[f.of[i]]; {
		case at == "":
			room.Lacking++
			room.Verdict = found.verdict[i]
		case at[0] == planned[0]:
			room.Planned++
		case at[0] == bought[0]:
			room.New++
		default:
			room.Existing++
		}
	}
	return out
}

// settled is the cluster after the plan for real pods has been carried out, so that no real pod waits, with
// the virtual pods. The names of its planned nodes begin with mark.
func (f *filler) settled(mark string) snapshot.Sorted {
	s := f.given.With(f.virtual)
	s.Settings.StaticCapacity = false // replicas are part of the plan already
	for i := range f.given.Pods {
		s.Pods[i].Pending, s.Pods[i].Movable = false, false
	}
	put := func(pods []snapshot.PodIndex, node string) {
		for _, p := range pods {
			s.Pods[p].Node = node
		}
	}
	for _, e := range f.plan.Existing {
		put(e.Pods, e.Node)
	}
	for i := range f.plan.Claims {
		n := f.coming(&f.plan.Claims[i], mark)
		s.Nodes = append(s.Nodes, n)
		put(f.plan.Claims[i].Pods, n.Name)
	}
	for i := range s.Pools {
		if f.starved[s.Pools[i].Name] && s.Pools[i].MayLaunch() {
			s.Pools[i].Unready.Code = reason.PoolLimitsAwaited
		}
	}
	return s
}

// starved are the pools whose limits keep pods of a plan waiting.
func starved(p *plan.Plan) map[string]bool {
	out := map[string]bool{}
	for i := range p.Unplaced {
		for _, v := range p.Unplaced[i].Verdict.Pools {
			if v.Reason.Code == reason.LimitReached || v.Reason.Code == reason.ClusterLimitReached {
				out[v.Pool] = true
			}
		}
	}
	return out
}

// coming is the node that a claim becomes, if the cloud chooses its own offer. Limits count the most that the cloud may choose.
func (f *filler) coming(c *plan.Claim, mark string) snapshot.Node {
	name := mark + c.Name
	labels := maps.Clone(c.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[requirement.KeyHostname] = name
	return snapshot.Node{
		Name: name, Claim: name, Pool: c.Pool, Labels: labels, Taints: c.Taints, Capacity: c.Capacity, Allocatable: c.Allocatable,
		InstanceType: c.Offer.InstanceType, Zone: c.Offer.Zone, CapacityType: c.Offer.CapacityType, Reservation: c.Offer.Reservation,
		Price: c.Offer.Price, Most: c.MostCapacity(f.types[c.Pool]),
	}
}

// hosted is the cluster and its plan as disruption sees them: buffers have pods on the nodes where
// they have room, which want another place if their node goes.
func (f *filler) hosted() (snapshot.Sorted, *plan.Plan) {
	if len(f.given.Buffers) == 0 {
		return f.given, f.plan
	}
	p := *f.plan
	p.Claims = slices.Concat(p.Claims, p.Spare)
	pools := map[string]string{}
	for i := range f.given.Nodes {
		pools[f.given.Nodes[i].Name] = f.given.Nodes[i].Pool
	}
	var held []snapshot.Pod
	for i, pod := range f.virtual {
		if f.host[i] == "" || f.starved[pools[f.host[i]]] {
			continue
		}
		pod.Node, pod.Pending = f.host[i], false
		pod.Tie = snapshot.Tie{Returns: true, Cost: snapshot.OrdinaryCost, Virtual: true}
		held = append(held, pod)
	}
	return f.given.With(held), &p
}

// keep leaves out disruptions that save money and after which buffers would have to buy. Disruption finds room
// for the virtual pods of one node beside all others; the next plan for buffers places all of them anew, and need
// not find that solution where their rules leave few. Then it would buy what was given up, again and again.
func (f *filler) keep(found *disrupt.Result, effort int64) {
	if len(f.virtual) == 0 || len(f.starved) > 0 { // where real pods wait for a limit, buffers give way
		return
	}
	var kept []plan.Disruption
	number := make([]int, len(found.Disruptions)) // of each that is kept
	for i, d := range found.Disruptions {
		if d.Reason == plan.Underutilized || d.Reason == plan.Empty {
			if next := f.search(f.without(append(kept, d)), effort); next.short(f.waves) > f.short {
				number[i] = -1
				continue
			}
		}
		number[i] = len(kept)
		kept = append(kept, d)
	}
	found.Disruptions = kept
	for i := range found.Prospects {
		p := &found.Prospects[i]
		switch {
		case p.Kind != plan.Chosen:
		case number[p.Disruption] < 0:
			p.Kind, p.Cause, p.Disruption = plan.Kept, reason.Cause{Code: reason.HoldsBuffer, Where: p.Node}, 0
		default:
			p.Disruption = number[p.Disruption]
		}
	}
}

// without is the settled cluster once disruptions have been carried out.
func (f *filler) without(list []plan.Disruption) snapshot.Sorted {
	s := f.settled(planned)
	put := func(pods []snapshot.PodIndex, node string) {
		for _, p := range pods {
			if int(p) < len(f.given.Pods) {
				s.Pods[p].Node = node
			}
		}
	}
	gone := map[string]bool{}
	for i := range list {
		for _, r := range list[i].Nodes {
			gone[r.Node] = true
		}
		for _, m := range list[i].Moves {
			put(m.Pods, m.Node)
		}
		for j := range list[i].Replacements {
			n := f.coming(&list[i].Replacements[j], fmt.Sprintf("%s%d-", planned, i))
			s.Nodes = append(s.Nodes, n)
			put(list[i].Replacements[j].Pods, n.Name)
		}
	}
	for i := range s.Nodes {
		s.Nodes[i].Leaving = s.Nodes[i].Leaving || gone[s.Nodes[i].Name]
	}
	return s
}

// strip leaves virtual pods out of disruptions: they are not evicted, and nothing is promised to
// them.
func (f *filler) strip(list []plan.Disruption) {
	if len(f.virtual) == 0 {
		return
	}
	real := func(pods []snapshot.PodIndex) []snapshot.PodIndex {
		return slices.DeleteFunc(pods, func(p snapshot.PodIndex) bool { return int(p) >= len(f.given.Pods) })
	}
	for i := range list {
		d := &list[i]
		d.Evict = real(d.Evict)
		for k := range d.Nodes {
			d.Nodes[k].Pods = real(d.Nodes[k].Pods)
		}
		for k := range d.Replacements {
			c := &d.Replacements[k]
			before := len(c.Pods)
			c.Pods = real(c.Pods)
			c.Spare = before > len(c.Pods)
		}
		for k := range d.Moves {
			d.Moves[k].Pods = real(d.Moves[k].Pods)
		}
		d.Moves = slices.DeleteFunc(d.Moves, func(m plan.Placement) bool { return len(m.Pods) == 0 })
	}
}
