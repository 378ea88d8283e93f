package check

import (
	"slices"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// The rules for what is given up.
const (
	NodeUntouchable   Rule = "NodeUntouchable"   // may not be disrupted at all, or not for the reason
	NodeTwice         Rule = "NodeTwice"         // is given up more than once
	NodeCrossed       Rule = "NodeCrossed"       // is given up, and takes pods of another
	NodeNotOurs       Rule = "NodeNotOurs"       // would be marked while pods move, and has no claim, or is given up
	PodHeld           Rule = "PodHeld"           // would be evicted though it is protected
	PodForgotten      Rule = "PodForgotten"      // would lose its place and get no other
	PodBudget         Rule = "PodBudget"         // a PodDisruptionBudget has no room for it
	DisruptionBudget  Rule = "DisruptionBudget"  // of the pool
	RolloutPace       Rule = "RolloutPace"       // of the pool: more drifted nodes than may go now
	GroupFloor        Rule = "GroupFloor"        // of the group: fewer instances than its minimum
	ClusterFloor      Rule = "ClusterFloor"      // of the cluster: less of a resource than its minimum
	DearerReplacement Rule = "DearerReplacement" // every choice of the cloud must be cheaper
	NodePassing       Rule = "NodePassing"       // takes pods that stay, although it would be empty soon
	PaidTwice         Rule = "PaidTwice"         // moves that save money would buy too many nodes at the same time
	SpotForSpot       Rule = "SpotForSpot"       // without the gate for it
	SavingsWrong      Rule = "SavingsWrong"      // differ from what nodes and offers cost
	ProspectMissing   Rule = "ProspectMissing"   // a node without an answer
)

// checkDisruptions judges the disruptions of a plan: first whether each node may be given up, then, like
// any other plan, the cluster in which all disruptions have been carried out.
func checkDisruptions(s *snapshot.Snapshot, p *plan.Plan, f *finding) {
	if len(p.Prospects) > 0 && len(p.Prospects) != len(s.Nodes) {
		f.note(Violation{Rule: ProspectMissing, Have: int64(len(p.Prospects)), Want: int64(len(s.Nodes))})
	}
	if len(p.Disruptions) == 0 {
		return
	}
	j := newJudge(s, p, f)
	for i := range p.Disruptions {
		j.checkNodes(&p.Disruptions[i])
		j.checkMoves(&p.Disruptions[i])
		j.checkPrice(&p.Disruptions[i])
		j.checkFirst(&p.Disruptions[i])
	}
	j.checkBudgets()
	j.checkPaces()
	j.checkFloors()
	j.checkPodBudgets()
	j.checkSurge()
	if len(f.list) == 0 {
		after, done := j.done()
		for _, v := range Plan(after, done) {
			if !v.Rule.IsAdvice() {
				v.Detail += " (once nodes are given up)"
				f.note(v)
			}
		}
		j.checkLimits()
	}
}

// judge knows which disruption a node or pod is in.
type judge struct {
	s      *snapshot.Snapshot
	p      *plan.Plan
	f      *finding
	nodes  map[string]*snapshot.Node
	goneBy map[string]int
	on     map[string][]snapshot.PodIndex
}

func newJudge(s *snapshot.Snapshot, p *plan.Plan, f *finding) *judge {
	j := &judge{s: s, p: p, f: f, nodes: map[string]*snapshot.Node{}, goneBy: map[string]int{}, on: map[string][]snapshot.PodIndex{}}
	for i := range s.Nodes {
		j.nodes[s.Nodes[i].Name] = &s.Nodes[i]
	}
	for i := range s.Pods {
		j.on[s.Pods[i].Node] = append(j.on[s.Pods[i].Node], snapshot.PodIndex(i))
	}
	for i := range p.Disruptions {
		for _, r := range p.Disruptions[i].Nodes {
			if _, twice := j.goneBy[r.Node]; twice {
				f.note(Violation{Rule: NodeTwice, Node: r.Node})
			}
			j.goneBy[r.Node] = i
		}
	}
	return j
}

// waived reports whether pods cannot hold the node: it has drifted, and its removal is bounded in time.
func waived(d *plan.Disruption, n *snapshot.Node) bool {
	return d.Reason == plan.Drifted && n.Life.Bounded
}

func (j *judge) checkNodes(d *plan.Disruption) {
	for _, r := range d.Nodes {
		n := j.nodes[r.Node]
		if n == nil {
			j.f.note(Violation{Rule: NodeUnknown, Node: r.Node})
			continue
		}
		if why := j.untouchable(d, n); why != "" {
			j.f.note(Violation{Rule: NodeUntouchable, Node: r.Node, Where: string(d.Reason), Detail: why})
		}
		if !slices.Equal(r.Pods, j.on[r.Node]) {
			j.f.note(Violation{Rule: PodForgotten, Node: r.Node, Detail: "the list of its pods is not what is there, in order"})
		}
		for _, pod := range j.on[r.Node] {
			if j.held(j.poolOf(n), &j.s.Pods[pod]) && !waived(d, n) {
				j.f.note(Violation{Rule: PodHeld, Pod: j.s.Pods[pod].Key(), Node: r.Node})
			}
		}
	}
}

func (j *judge) untouchable(d *plan.Disruption, n *snapshot.Node) string {
	pool := j.poolOf(n)
	switch {
	case pool == nil:
		return "is of no pool"
	case !n.Initialized || n.Leaving || n.Life.Underway != "" || n.Life.Unborn:
		return "is not in service, or leaves already"
	case n.Life.Protected:
		return "has the annotation do-not-disrupt"
	case j.expects(n):
		return "waits for pods"
	case d.Reason == plan.Drifted && n.Life.Drifted == "":
		return "has not drifted"
	case d.Reason == plan.Drifted:
		return ""
	case pool.Replicas != nil || pool.Consolidation.After == nil:
		return "is of a pool that is not consolidated"
	case n.Life.Quiet.IsZero() || n.Life.Quiet.Add(*pool.Consolidation.After).After(j.s.Now):
		return "has not been quiet for long enough"
	case pool.Rules() != nil:
		return j.needed(pool.Rules(), n)
	case d.Reason == plan.Underutilized && pool.Consolidation.Policy == snapshot.WhenEmpty:
		return "is of a pool where only empty nodes go"
	case d.Reason == plan.Underutilized && pool.NotReady():
		return "is of a pool that is not ready"
	}
	return ""
}

// expects reports whether pods are on their way to the node.
func (j *judge) expects(n *snapshot.Node) bool {
	return n.Life.Nominated.After(j.s.Now) ||
		slices.ContainsFunc(j.p.Existing, func(e plan.Placement) bool { return e.Node == n.Name }) ||
		slices.ContainsFunc(j.on[n.Name], func(pod snapshot.PodIndex) bool { return j.s.Pods[pod].Tie.Promised })
}

func (j *judge) poolOf(n *snapshot.Node) *snapshot.Pool {
	for i := range j.s.Pools {
		if j.s.Pools[i].Name == n.Pool {
			return &j.s.Pools[i]
		}
	}
	return nil
}

// checkMoves: a pod that comes back has a place on a node that stays. An order of evictions lists exactly
// these pods.
func (j *judge) checkMoves(d *plan.Disruption) {
	if len(d.Evict) > 0 && !slices.Equal(slices.Sorted(slices.Values(d.Evict)), slices.Sorted(slices.Values(placedBy(d)))) {
		j.f.note(Violation{Rule: PodUninvited, Node: d.Nodes[0].Node, Detail: "the order of evictions has other pods than those that move"})
	}
	for _, name := range d.Guide {
		if _, gone := j.goneBy[name]; gone || j.nodes[name] == nil || j.nodes[name].Claim == "" || !j.s.Settings.GuideMoves {
			j.f.note(Violation{Rule: NodeNotOurs, Node: name})
		}
	}
	placed := map[snapshot.PodIndex]int{}
	for _, pod := range placedBy(d) {
		placed[pod]++
	}
	for _, m := range d.Moves {
		if _, gone := j.goneBy[m.Node]; gone {
			j.f.note(Violation{Rule: NodeCrossed, Node: m.Node})
		}
		if n := j.nodes[m.Node]; n == nil || !n.Initialized {
			j.f.note(Violation{Rule: NodeUnknown, Node: m.Node, Detail: "takes pods, and is not in service"})
		} else if d.Reason == plan.Underutilized && j.passes(n) && slices.ContainsFunc(m.Pods, j.stays) {
			j.f.note(Violation{Rule: NodePassing, Node: m.Node})
		}
	}
	for _, r := range d.Nodes {
		for _, pod := range j.on[r.Node] {
			tie := &j.s.Pods[pod].Tie
			needs := tie.Returns && !(d.Reason == plan.Empty && tie.Cost <= 0) && !oneForOne(d)
			if n := j.nodes[r.Node]; n != nil && waived(d, n) && j.stuck(pod) {
				needs = false // it stays until it is made to go
			}
			if n := j.nodes[r.Node]; n != nil && j.expends(n, pod) {
				needs = false
			}
			switch have := placed[pod]; {
			case needs && have != 1:
				j.f.note(Violation{Rule: PodForgotten, Pod: j.s.Pods[pod].Key(), Node: r.Node, Have: int64(have), Want: 1})
			case !tie.Returns && have > 0:
				j.f.note(Violation{Rule: PodUninvited, Pod: j.s.Pods[pod].Key(), Node: r.Node})
			}
			delete(placed, pod)
		}
	}
	for pod := range placed {
		j.f.note(Violation{Rule: PodUninvited, Have: int64(pod), Detail: "is on no node of the disruption"})
	}
}

// passes reports whether the node would become empty, and be given up, once the pods that end by themselves
// have ended, if consolidation moved no pods to it.
func (j *judge) passes(n *snapshot.Node) bool {
	pool := j.poolOf(n)
	if pool == nil || pool.Replicas != nil || pool.Consolidation.After == nil || n.Life.Protected {
		return false
	}
	coming := func(m plan.Placement) bool { return m.Node == n.Name && slices.ContainsFunc(m.Pods, j.stays) }
	return !slices.ContainsFunc(j.on[n.Name], func(pod snapshot.PodIndex) bool {
		tie := &j.s.Pods[pod].Tie
		return j.stays(pod) && (tie.Promised || tie.Returns && tie.Cost > 0)
	}) && !slices.ContainsFunc(j.p.Existing, coming) && !slices.ContainsFunc(j.p.Disruptions, func(d plan.Disruption) bool {
		return d.Reason == plan.Drifted && slices.ContainsFunc(d.Moves, coming)
	})
}

// stays reports whether the pod does not end by itself.
func (j *judge) stays(pod snapshot.PodIndex) bool { return !j.s.Pods[pod].Ends }

// oneForOne reports whether a replica replaces a node of a static pool. No pod has to fit on such a
// replacement.
func oneForOne(d *plan.Disruption) bool {
	return d.Reason == plan.Drifted && len(d.Nodes) == 1 && len(d.Replacements) == 1 && d.Replacements[0].Replica
}

// stuck pods cannot be evicted for a standing reason.
func (j *judge) stuck(pod snapshot.PodIndex) bool {
	p := &j.s.Pods[pod]
	return p.Tie.Holds(j.s.Now) || p.Tie.Asked && (len(p.Tie.Budgets) > 1 || slices.ContainsFunc(j.s.Budgets, func(b snapshot.Budget) bool {
		return b.Never && b.Namespace == p.Namespace && slices.Contains(p.Tie.Budgets, b.Name)
	}))
}

func placedBy(d *plan.Disruption) []snapshot.PodIndex {
	var out []snapshot.PodIndex
	for i := range d.Replacements {
		out = append(out, d.Replacements[i].Pods...)
	}
	for i := range d.Moves {
		out = append(out, d.Moves[i].Pods...)
	}
	return out
}

// checkPrice: savings are what they are said to be, and consolidation never makes the
// fleet dearer, with every choice of the cloud among the offers that a claim admits.
func (j *judge) checkPrice(d *plan.Disruption) {
	var before, best, worst model.Money
	// Without the gate, if a spot node goes, each spot machine that comes must replace a node that is not spot.
	var others, spot int
	saves := false // is a node among them that goes to save money; others go by the rules of Cluster Autoscaler at any price
	for _, r := range d.Nodes {
		if n := j.nodes[r.Node]; n != nil {
			before += n.Price
			pool := j.poolOf(n)
			saves = saves || pool == nil || pool.Rules() == nil
			if n.CapacityType != catalog.Spot {
				others++
			}
		}
	}
	e := &state{s: j.s, p: &plan.Plan{}}
	for i := range d.Replacements {
		c := &d.Replacements[i]
		best += c.Offer.Price
		if c.Offer.CapacityType == catalog.Spot {
			spot++
		}
		if e.pool(c.Pool) == nil {
			continue
		}
		n := &node{name: c.Name, claim: c, pool: e.pool(c.Pool), asks: c.Narrowed(), taints: e.pool(c.Pool).Taints, placed: c.Pods}
		e.addChoices(n, &finding{})
		dearest := c.Offer.Price
		for i := range n.choices {
			dearest = max(dearest, n.choices[i].offer.Price)
		}
		worst += dearest
	}
	if d.Savings != before-best {
		j.f.note(Violation{Rule: SavingsWrong, Have: int64(d.Savings), Want: int64(before - best)})
	}
	if d.Reason == plan.Underutilized && saves && worst >= before {
		j.f.note(Violation{Rule: DearerReplacement, Node: d.Nodes[0].Node, Have: int64(worst), Want: int64(before)})
	}
	if d.Reason == plan.Underutilized && others < len(d.Nodes) && spot > others && !j.s.Settings.SpotToSpot {
		j.f.note(Violation{Rule: SpotForSpot, Node: d.Nodes[0].Node})
	}
}

// checkBudgets goes through the disruptions in order: the budget for each one's reason has room beside all
// earlier ones and the nodes that are unready or leaving.
func (j *judge) checkBudgets() {
	busy := map[string]int{}
	for i := range j.s.Nodes {
		if n := &j.s.Nodes[i]; n.Initialized && !n.Life.Terminating && (n.Life.Unready || n.Leaving) {
			busy[n.Pool]++
		}
	}
	for i := range j.p.Disruptions {
		d := &j.p.Disruptions[i]
		for _, r := range d.Nodes {
			busy[r.Pool]++
		}
		for _, r := range d.Nodes {
			n := j.nodes[r.Node]
			if n == nil || j.poolOf(n) == nil {
				continue
			}
			if allowed := allowance(&j.poolOf(n).Consolidation.Allowed, d.Reason); busy[r.Pool] > allowed {
				j.f.note(Violation{Rule: DisruptionBudget, Where: r.Pool + " " + string(d.Reason), Have: int64(busy[r.Pool]), Want: int64(allowed)})
			}
		}
	}
}

// checkFloors: no group gets smaller than it may be. The desired size includes a node that leaves until its instance ends.
func (j *judge) checkFloors() {
	for i := range j.s.Pools {
		pool := &j.s.Pools[i]
		if pool.Group == nil {
			continue
		}
		left := pool.Group.Desired
		for k := range j.s.Nodes {
			if n := &j.s.Nodes[k]; n.Pool == pool.Name && n.Leaving && !n.Life.Terminating {
				left--
			}
		}
		removed := int64(0)
		for d := range j.p.Disruptions {
			for _, r := range j.p.Disruptions[d].Nodes {
				if r.Pool == pool.Name {
					removed++
				}
			}
		}
		if removed > 0 && left-removed < pool.Group.Floor {
			j.f.note(Violation{Rule: GroupFloor, Where: pool.Name, Have: left - removed, Want: pool.Group.Floor})
		}
	}
	for _, floor := range j.s.Settings.Floors {
		j.checkClusterFloor(floor)
	}
}

// checkClusterFloor: nodes that are removed by the rules of Cluster Autoscaler leave the cluster no less of a resource than its minimum.
func (j *judge) checkClusterFloor(floor model.Amount) {
	left, removed := int64(0), int64(0)
	for i := range j.s.Nodes {
		n := &j.s.Nodes[i]
		if n.Leaving {
			continue
		}
		_, gone := j.goneBy[n.Name]
		if pool := j.poolOf(n); gone && pool != nil && pool.Rules() != nil {
			removed += amountOf(n.Capacity, floor.Name)
		} else {
			left += amountOf(n.Capacity, floor.Name)
		}
	}
	if removed > 0 && left < floor.Value {
		j.f.note(Violation{Rule: ClusterFloor, Where: floor.Name, Have: left, Want: floor.Value})
	}
}

// checkPaces: no pool's roll-out is faster than it may be.
func (j *judge) checkPaces() {
	for i := range j.s.Pools {
		pool := &j.s.Pools[i]
		if pool.Consolidation.Pace == nil {
			continue
		}
		n := 0
		for d := range j.p.Disruptions {
			for _, r := range j.p.Disruptions[d].Nodes {
				if j.p.Disruptions[d].Reason == plan.Drifted && r.Pool == pool.Name {
					n++
				}
			}
		}
		if may := max(pool.Consolidation.Pace.More, 0); n > may {
			j.f.note(Violation{Rule: RolloutPace, Where: pool.Name, Have: int64(n), Want: int64(may)})
		}
	}
}

func allowance(a *snapshot.Allowance, reason plan.Reason) int {
	switch reason {
	case plan.Empty:
		return a.Empty
	case plan.Drifted:
		return a.Drifted
	}
	return a.Underutilized
}

// checkPodBudgets: the number of disrupted nodes with pods of a budget is at most the number of evictions
// that it allows now. Pods of one node are evicted one after the other.
func (j *judge) checkPodBudgets() {
	for i := range j.s.Budgets {
		b := &j.s.Budgets[i]
		n := int32(0)
		for d := range j.p.Disruptions {
			for _, r := range j.p.Disruptions[d].Nodes {
				if node := j.nodes[r.Node]; node != nil && !waived(&j.p.Disruptions[d], node) && slices.ContainsFunc(j.on[r.Node], func(pod snapshot.PodIndex) bool {
					p := &j.s.Pods[pod]
					return p.Tie.Asked && !p.Terminating && p.Namespace == b.Namespace && slices.Contains(p.Tie.Budgets, b.Name)
				}) {
					n++
				}
			}
		}
		if n > max(b.Allowed, 0) {
			j.f.note(Violation{Rule: PodBudget, Where: b.Key(), Have: int64(n), Want: int64(b.Allowed)})
		}
	}
}

// done is the cluster in which only the moving pods lack a place, and the whole plan for it.
func (j *judge) done() (*snapshot.Snapshot, *plan.Plan) {
	s := *j.s
	s.Nodes = slices.Clone(j.s.Nodes)
	s.Pods = slices.Clone(j.s.Pods)
	for i := range s.Nodes {
		if _, gone := j.goneBy[s.Nodes[i].Name]; gone {
			s.Nodes[i].Leaving = true
			if j.goesFirst(&s.Nodes[i]) {
				s.Nodes[i].Pool = "" // it is gone before its pool buys again
			}
		}
	}
	p := *j.p
	p.Disruptions, p.Prospects = nil, nil
	p.Claims, p.Existing = slices.Clone(j.p.Claims), slices.Clone(j.p.Existing)
	moves := map[string][]snapshot.PodIndex{}
	for i := range j.p.Disruptions {
		d := &j.p.Disruptions[i]
		for _, c := range d.Replacements {
			p.Claims = append(p.Claims, c)
			p.Cost.New += c.Offer.Price
		}
		for _, m := range d.Moves {
			moves[m.Node] = append(moves[m.Node], m.Pods...)
		}
		for _, r := range d.Nodes {
			for _, pod := range j.on[r.Node] {
				s.Pods[pod].Terminating = s.Pods[pod].Terminating || d.Reason == plan.Empty // they are not missed
			}
		}
		for _, pod := range placedBy(d) {
			s.Pods[pod].Movable = true
		}
	}
	for i := range s.Nodes {
		if pods := moves[s.Nodes[i].Name]; len(pods) > 0 {
			p.Existing = append(p.Existing, plan.Placement{Node: s.Nodes[i].Name, Pods: pods})
		}
	}
	return &s, &p
}

// checkLimits: replacements exist beside the nodes that they replace, unless those nodes go first.
func (j *judge) checkLimits() {
	e := &state{s: j.s, p: &plan.Plan{}}
	for i := range j.s.Nodes {
		if n := &j.s.Nodes[i]; !j.goesFirst(n) {
			e.nodes = append(e.nodes, &node{name: n.Name, exists: n})
		}
	}
	for i := range j.p.Claims {
		e.addClaim(&j.p.Claims[i], &finding{})
	}
	for i := range j.p.Disruptions {
		for k := range j.p.Disruptions[i].Replacements {
			e.addClaim(&j.p.Disruptions[i].Replacements[k], &finding{})
		}
	}
	checkLimits(e, j.f)
}

// goesFirst reports whether the node is given up before its replacement is bought.
func (j *judge) goesFirst(n *snapshot.Node) bool {
	d, gone := j.goneBy[n.Name]
	return gone && j.p.Disruptions[d].DeleteFirst
}

// checkFirst: a node goes before its replacement only because it drifted, where the pool lets it,
// and while every other node of the pool is in service and stays.
func (j *judge) checkFirst(d *plan.Disruption) {
	if !d.DeleteFirst {
		return
	}
	for _, r := range d.Nodes {
		pool := j.poolOf(j.nodes[r.Node])
		if d.Reason != plan.Drifted || len(d.Nodes) != 1 || !pool.Consolidation.DeleteFirst {
			j.f.note(Violation{Rule: NodeUntouchable, Node: r.Node, Detail: "would go before its replacement"})
		}
		for i := range j.s.Nodes {
			n := &j.s.Nodes[i]
			_, gone := j.goneBy[n.Name]
			if n.Pool == r.Pool && n.Name != r.Node && (gone || n.Leaving || !n.Initialized || n.Life.Unready || n.Life.Underway != "") {
				j.f.note(Violation{Rule: NodeUntouchable, Node: r.Node, Detail: "would go before its replacement, beside " + n.Name})
			}
		}
	}
}

// checkSurge: of the moves that save money and are to begin now, only one buys nodes, or all of them buy for a
// twentieth of the fleet's price.
func (j *judge) checkSurge() {
	var fleet, bought model.Money
	buying := 0
	for i := range j.s.Nodes {
		fleet += j.s.Nodes[i].Price
	}
	for i := range j.p.Disruptions {
		d := &j.p.Disruptions[i]
		if d.Reason != plan.Underutilized || !d.Now() || len(d.Replacements) == 0 {
			continue
		}
		var price, gone model.Money
		for c := range d.Replacements {
			price += d.Replacements[c].Offer.Price
		}
		for _, r := range d.Nodes {
			gone += r.Price
		}
		if 4*price <= gone {
			continue
		}
		buying++
		bought += price
	}
	if buying > 1 && bought > fleet/20 {
		j.f.note(Violation{Rule: PaidTwice, Have: int64(bought), Want: int64(fleet / 20)})
	}
}
