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
// room for the buffer.

// filler finds room for the buffers of a snapshot, beside a plan for its pods.
type filler struct {
	given snapshot.Sorted
	plan  *plan.Plan
	// virtual are the pods that stand for the room, behind all others and those of older buffers
	// first; of are their buffers.
	virtual []snapshot.Pod
	of      []int
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

func newFiller(s snapshot.Sorted, p *plan.Plan) *filler {
	f := &filler{given: s, plan: p, starved: starved(p), types: map[string][]catalog.Type{}}
	for i := range s.Pools {
		f.types[s.Pools[i].Name] = s.Catalogs[s.Pools[i].Catalog].Types
	}
	for _, i := range oldestFirst(s.Buffers) {
		b := &s.Buffers[i]
		for n := range b.Pods {
			f.virtual = append(f.virtual, snapshot.Pod{
				Namespace: b.Namespace, Name: fmt.Sprintf("capacity-buffer-%s-%d", b.Name, n+1), Template: b.Template,
				Created: b.Created, Pending: true, Refused: b.Refused,
			})
			f.of = append(f.of, i)
		}
	}
	f.host = make([]string, len(f.virtual))
	return f
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

// planned begins the names of nodes that are bought for real pods; no other name begins like this.
const planned = "\x00"

// find is the plan for virtual pods.
func (f *filler) find(s snapshot.Sorted, effort int64) plan.Plan {
	return provision.Plan(s, provision.Options{Effort: effort, Unadvised: true, Unproven: true})
}

// short counts the virtual pods that have no room by a plan for them unless something is bought.
func short(found *plan.Plan) int {
	n := len(found.Unplaced)
	for i := range found.Claims {
		n += len(found.Claims[i].Pods)
	}
	return n
}

// fill enters into the plan which room the buffers have, and what has to be bought for them.
func (f *filler) fill(effort int64) {
	if len(f.given.Buffers) == 0 {
		return
	}
	found := f.find(f.settled(planned), effort)
	f.short = short(&found)
	f.plan.Rooms, f.plan.Solve.Steps = f.rooms(&found, planned), f.plan.Solve.Steps+found.Solve.Steps
	names := map[string]int{}
	for i := range f.plan.Claims {
		names[f.plan.Claims[i].Pool]++
	}
	for _, c := range found.Claims {
		names[c.Pool]++
		c.Name, c.Pods, c.Spare = fmt.Sprintf("%s-%d", c.Pool, names[c.Pool]), nil, true
		f.plan.Spare = append(f.plan.Spare, c)
	}
}

// rooms counts where the virtual pods are by a plan for them, and notes on which nodes that are there.
func (f *filler) rooms(found *plan.Plan, planned string) []plan.Room {
	out := make([]plan.Room, len(f.given.Buffers))
	for i := range out {
		out[i].Buffer = i
	}
	base := snapshot.PodIndex(len(f.given.Pods))
	for _, e := range found.Existing {
		for _, pod := range e.Pods {
			if room := &out[f.of[pod-base]]; e.Node[0] == planned[0] {
				room.Planned++
			} else {
				room.Existing++
				f.host[pod-base] = e.Node
			}
		}
	}
	for _, c := range found.Claims {
		for _, pod := range c.Pods {
			out[f.of[pod-base]].New++
		}
	}
	for _, u := range found.Unplaced {
		room := &out[f.of[u.Pod-base]]
		room.Lacking++
		room.Verdict = u.Verdict
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
			if v.Reason.Code == reason.LimitReached {
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
			if next := f.find(f.without(append(kept, d)), effort); short(&next) > f.short {
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
