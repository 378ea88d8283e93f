package disrupt

import (
	"cmp"
	"slices"

	"tenon/core/disruptable"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision"
	"tenon/core/provision/fleet"
	"tenon/core/snapshot"
)

// FullEffort is what an evaluation spends unless it is told otherwise, in steps of about a
// nanosecond. It is meant to be enough for thousands of nodes.
const FullEffort = 20_000_000_000

// Budget bounds an evaluation.
type Budget struct {
	// Steps are about a nanosecond each; 0 means FullEffort.
	Steps int64
	// After is where the last evaluation stopped to look at nodes one by one, empty for the
	// beginning: see Outcome.Next.
	After string
	// MovesWait says that moves which save money would have to wait: they are not looked for, and what was said of their nodes stands.
	MovesWait bool
	// Bound asks for Outcome.Bound too, which is for people.
	Bound bool
	// Memory is that of the asker; nil is none.
	Memory *provision.Memory
}

// Result is the outcome of an evaluation.
type Result struct {
	Disruptions []plan.Disruption
	// Prospects are of all nodes, by name.
	Prospects []plan.Prospect
	// Next is where the next evaluation should go on, if this one ran out of effort before
	// it had looked at every node.
	Next string
	// Swept is how many nodes were looked at one by one, Skipped how many were left for next time.
	Swept, Skipped int
	Steps          int64
	// Bound is proven: no new nodes for the pods that get a place, by p or by moving, cost
	// less on top of the nodes that stay.
	Bound model.Money
}

// Plan decides what should be given up, once what p says has been done. Pods are numbered as in s.
func Plan(s snapshot.Sorted, p *plan.Plan, budget Budget) Result {
	if budget.Steps == 0 {
		budget.Steps = FullEffort
	}
	x := newSearch(s, p, budget)
	x.survey()
	x.empty()
	x.staticDrift()
	x.drift()
	x.scaleDown()
	if budget.MovesWait {
		x.leaveOut()
	} else {
		x.underutilized()
	}
	x.tellBuffers()
	out := x.outcome()
	if budget.Bound {
		out.Bound = x.bound(p)
	}
	return out
}

// boundEffort is enough for a bound that tells something.
const boundEffort = 100_000_000

func (x *search) bound(p *plan.Plan) model.Money {
	var pods []snapshot.PodIndex
	for i := range p.Claims {
		pods = append(pods, p.Claims[i].Pods...)
	}
	for _, e := range p.Existing {
		pods = append(pods, e.Pods...)
	}
	for i := range x.nodes {
		if x.nodes[i].state == gone && !x.nodes[i].isEmpty() {
			pods = append(pods, x.nodes[i].moving...)
		}
	}
	return x.fleet.Bound(pods, x.part(boundEffort))
}

// search is the work of one call.
type search struct {
	s      *snapshot.Snapshot
	fleet  *fleet.Fleet
	budget Budget
	rules  disruptable.Rules

	nodes  []node
	pools  []pool
	poolAt map[string]snapshot.PoolIndex
	nodeAt map[string]snapshot.NodeIndex
	covers map[string]*headroom // budgets of pods, by namespace and name
	value  []float64            // by pod, in millionths an hour; see Fleet.Values
	list   []plan.Disruption
	next   string
	swept  int
	// forecast is where the pods of list are expected; nil until something is moved to save money.
	forecast *fleet.Forecast
	names    map[string]int           // claims to come, by pool
	needed   map[fleet.Aspect]bool    // groups of pods that pods which get a place count on
	unsure   map[fleet.Component]bool // components of pods that wait for nodes whose zone is not known yet
	// free are nodes with room, as of a number of disruptions.
	free     []snapshot.NodeIndex
	freeAsOf int
}

// newSearch has nothing given up. What the plan does is done.
func newSearch(s snapshot.Sorted, p *plan.Plan, budget Budget) *search {
	x := &search{
		s: s.Snapshot, fleet: fleet.New(s, p, budget.Memory.Compiled()), budget: budget, rules: disruptable.RulesOf(s.Snapshot),
		poolAt: map[string]snapshot.PoolIndex{}, names: map[string]int{}, needed: map[fleet.Aspect]bool{}, unsure: map[fleet.Component]bool{},
	}
	for i := range snapshot.PoolIndex(len(x.s.Pools)) {
		x.poolAt[x.s.Pools[i].Name] = i
	}
	x.readNodes()
	if p != nil {
		x.notePlan(p)
	}
	return x
}

// notePlan notes what the plan wants with nodes, and what its pods count on.
func (x *search) notePlan(p *plan.Plan) {
	for _, placement := range p.Existing {
		n := &x.nodes[x.nodeAt[placement.Node]]
		n.awaits = true
		n.lasting = n.lasting || x.stay(placement.Pods)
		x.needFor(placement.Pods)
	}
	for i := range p.Claims {
		x.names[p.Claims[i].Pool]++
		x.needFor(p.Claims[i].Pods)
		for _, pod := range p.Claims[i].Pods {
			x.unsure[x.fleet.Component(pod)] = true
		}
	}
}

func (x *search) needFor(pods []snapshot.PodIndex) {
	for _, p := range pods {
		x.need(p)
	}
}

// part scales a share of the full effort to the effort of this evaluation.
func (x *search) part(share int64) int64 {
	return max(int64(float64(share)*min(float64(x.budget.Steps)/FullEffort, 1)), leastEffort)
}

// leastEffort is the least effort that any part gets: enough for a few pods.
const leastEffort = 20_000

// spent reports whether the effort is used up.
func (x *search) spent() bool { return x.fleet.Steps() >= x.budget.Steps }

// nearlySpent leaves a part of the effort for nodes that are looked at one by one.
func (x *search) nearlySpent() bool { return x.fleet.Steps() >= x.budget.Steps/4*3 }

// outcome hands everything over.
func (x *search) outcome() Result {
	out := Result{Disruptions: x.list, Next: x.next, Swept: x.swept, Steps: x.fleet.Steps()}
	for i := range x.nodes {
		out.Prospects = append(out.Prospects, x.nodes[i].prospect)
	}
	slices.SortFunc(out.Prospects, func(a, b plan.Prospect) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Claim, b.Claim))
	})
	if x.next != "" {
		for i := range x.nodes {
			if x.nodes[i].prospect.Skipped() {
				out.Skipped++
			}
		}
	}
	return out
}
