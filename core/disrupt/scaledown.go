package disrupt

import (
	"cmp"
	"slices"
	"time"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// scaleDown decides about the nodes of groups that are managed by the rules of Cluster Autoscaler: nothing needs a node that is
// little used and whose pods have a place on other nodes, and it goes once that has been so for long enough. Nothing is bought,
// and prices do not matter. Those that are due go first; the others are rehearsed on a fleet that is thrown away, in which
// what was found for one node is taken for the next.
func (x *search) scaleDown() {
	var due, early []snapshot.NodeIndex
	for i := range x.nodes {
		n := &x.nodes[i]
		rules := rulesOf(x.s, n.pool)
		if rules == nil || n.state != candidate {
			continue
		}
		if cause := x.inUse(n, rules); cause.Code != reason.None {
			n.keep(plan.Kept, "", cause)
			continue
		}
		if since := n.Life.Unneeded; !since.IsZero() && !since.Add(rules.Unneeded(n.Node)).After(x.s.Now) {
			due = append(due, n.at)
			continue
		}
		early = append(early, n.at)
	}
	r := release{x: x, candidates: make([]bool, len(x.s.Nodes)), taking: make([]bool, len(x.s.Nodes))}
	for _, at := range slices.Concat(due, early) {
		r.candidates[at] = true
	}
	r.count()
	x.byNeed(due)
	x.byNeed(early)
	for _, at := range due {
		r.try(at, true)
	}
	decided := x.fleet
	for _, at := range early {
		r.try(at, false)
	}
	x.fleet = decided
}

// byNeed sorts nodes: those without pods first, then those that nothing has needed for longest.
func (x *search) byNeed(nodes []snapshot.NodeIndex) {
	moves := func(at snapshot.NodeIndex) int { return min(len(x.nodes[at].moving), 1) }
	since := func(at snapshot.NodeIndex) time.Time {
		if t := x.nodes[at].Life.Unneeded; !t.IsZero() {
			return t
		}
		return x.s.Now
	}
	slices.SortFunc(nodes, func(a, b snapshot.NodeIndex) int {
		return cmp.Or(cmp.Compare(moves(a), moves(b)), since(a).Compare(since(b)), cmp.Compare(x.nodes[a].Name, x.nodes[b].Name))
	})
}

// release is the work of scaleDown.
type release struct {
	x *search
	// candidates, by node, may go; the others are better places. Taking ones have got pods by this plan.
	candidates, taking []bool
	// leaving is how many nodes of such groups are on their way out, and draining how many of these have pods.
	leaving, draining int
	// above is how much more than the floors of the cluster the nodes have that stay.
	above []model.Amount
}

func (r *release) count() {
	for _, floor := range r.x.s.Settings.Floors {
		r.above = append(r.above, model.Amount{Name: floor.Name, Value: -floor.Value})
	}
	for i := range r.x.nodes {
		if n := &r.x.nodes[i]; !n.Leaving && n.state != gone {
			r.above = spread(r.above, n.Capacity, 1)
		}
	}
	for i := range r.x.nodes {
		n := &r.x.nodes[i]
		if rulesOf(r.x.s, n.pool) == nil || !n.Leaving || n.Life.Unborn {
			continue
		}
		r.leaving++
		if len(n.moving) > 0 {
			r.draining++
		}
	}
}

// spread adds n times what a node has to amounts.
func spread(amounts []model.Amount, capacity model.Resources, n int64) []model.Amount {
	out := slices.Clone(amounts)
	for i := range out {
		out[i].Value += n * capacity.Get(out[i].Name)
	}
	return out
}

// tooFew is the resource of which the cluster would have less than its floor without a node.
func (r *release) tooFew(n *node) (name string, ok bool) {
	for _, a := range spread(r.above, n.Capacity, -1) {
		if a.Value < 0 && n.Capacity.Get(a.Name) > 0 {
			return a.Name, true
		}
	}
	return "", false
}

// try finds out whether the pods of a node have places. If so nothing needs it, and if it is due it goes unless something has it
// wait.
func (r *release) try(at snapshot.NodeIndex, due bool) {
	x, n := r.x, &r.x.nodes[at]
	why := plan.Underutilized
	if len(n.moving) == 0 {
		why = plan.Empty
	}
	if x.nearlySpent() {
		n.skip(why)
		return
	}
	if r.taking[at] {
		n.keep(plan.Kept, why, reason.Cause{Code: reason.TakesPods})
		return
	}
	ledger := x.newBudgetUse(why)
	if cause, ok := ledger.add(n); !ok {
		x.hold(n, why, cause)
		return
	}
	p, refused := r.places(why, at)
	if refused != nil {
		n.keep(refused.kind(plan.Kept), why, x.causeOf(refused))
		return
	}
	cause, until := r.waits(n, due)
	if cause.Code == reason.None {
		r.leaving++
		r.draining += min(len(n.moving), 1)
		r.above = spread(r.above, n.Capacity, -1)
		p.ledger = ledger
		x.accept(p)
	} else {
		n.keep(plan.Waiting, why, cause)
		n.prospect.Until = until
		if !due {
			ledger.commit()
			x.fleet = x.fleet.With(p.asked, p.answer)
		}
	}
	n.prospect.Unneeded = true
	for _, l := range p.answer.Existing {
		r.taking[l.Node] = r.taking[l.Node] || cause.Code == reason.None || !due
	}
}

// places asks where the pods of a node would go: first to a few nodes each of which has room for all of them, which is a small
// question; then to nodes that stay in any case; and then to any.
func (r *release) places(why plan.Reason, at snapshot.NodeIndex) (*proposal, *refusal) {
	if roomy := r.roomy(at); len(roomy) > 0 {
		if p, refused := r.x.propose(why, []snapshot.NodeIndex{at}, roomy, false); refused == nil {
			return p, nil
		}
	}
	var staying, all []snapshot.NodeIndex
	for i := range r.x.nodes {
		n := &r.x.nodes[i]
		if n.at == at || !r.x.receives(n) {
			continue
		}
		if all = append(all, n.at); !r.candidates[n.at] {
			staying = append(staying, n.at)
		}
	}
	if len(staying) < len(all) {
		if p, refused := r.x.propose(why, []snapshot.NodeIndex{at}, staying, false); refused == nil {
			return p, nil
		}
	}
	return r.x.propose(why, []snapshot.NodeIndex{at}, all, false)
}

// mostRoomy is how many nodes are asked about before the whole fleet is.
const mostRoomy = 8

// roomy are the first nodes that stay in any case and have room for all pods of a node. Rules may still keep the pods away.
func (r *release) roomy(at snapshot.NodeIndex) []snapshot.NodeIndex {
	need := make([]int64, len(r.x.fleet.Room(at)))
	for _, p := range r.x.nodes[at].moving {
		for i, amount := range r.x.fleet.Need(p) {
			need[i] += amount
		}
	}
	var out []snapshot.NodeIndex
	for i := range r.x.nodes {
		n := &r.x.nodes[i]
		if n.at == at || r.candidates[n.at] && !r.taking[n.at] || !r.x.receives(n) || !feasible.Fits(need, r.x.fleet.Room(n.at)) {
			continue
		}
		if out = append(out, n.at); len(out) == mostRoomy {
			break
		}
	}
	return out
}

// waits is why a node stays that nothing needs, and until when if that is known.
func (r *release) waits(n *node, due bool) (reason.Cause, time.Time) {
	rules := rulesOf(r.x.s, n.pool)
	scarce, tooFew := r.tooFew(n)
	switch {
	case !due:
		code := reason.NotUnneededLongEnough
		if n.Life.Unready {
			code = reason.NotUnreadyLongEnough
		}
		since := n.Life.Unneeded
		if since.IsZero() {
			since = r.x.s.Now
		}
		return reason.Cause{Code: code}, since.Add(rules.Unneeded(n.Node))
	case rules.Rests.After(r.x.s.Now):
		return reason.Cause{Code: reason.ScaleDownInCooldown}, rules.Rests
	case tooFew:
		return reason.Cause{Code: reason.MinimalResourceLimitExceeded, Where: scarce}, time.Time{}
	case r.leaving >= rules.MaxParallelism:
		return reason.Cause{Code: reason.TooManyScaleDowns, Have: int64(r.leaving), Want: int64(rules.MaxParallelism)}, time.Time{}
	case len(n.moving) > 0 && r.draining >= rules.MaxDrainParallelism:
		return reason.Cause{Code: reason.TooManyScaleDowns, Have: int64(r.draining), Want: int64(rules.MaxDrainParallelism)}, time.Time{}
	}
	return reason.Cause{}, time.Time{}
}

// inUse is why a node is no candidate, whether its pods would have a place elsewhere or not.
func (x *search) inUse(n *node, rules *snapshot.ScaleDown) reason.Cause {
	switch {
	case !rules.Enabled:
		return reason.Cause{Code: reason.ScaleDownDisabled}
	case x.s.Pools[n.pool].Consolidation.After == nil:
		return reason.Cause{Code: reason.ConsolidationDisabled, Where: n.Node.Pool}
	case n.Life.Unready && !rules.UnreadyEnabled:
		return reason.Cause{Code: reason.ScaleDownUnreadyDisabled}
	}
	asked, given, threshold := x.utilization(n, rules)
	for i := range asked {
		// Every request is above any part of nothing. The products stay far below the limit: memory is at most 2^50 bytes.
		if asked[i]*1000 > given[i]*int64(threshold) {
			return reason.Cause{Code: reason.NotUnderutilized, Have: asked[i] * 1000 / max(given[i], 1), Want: int64(threshold)}
		}
	}
	return reason.Cause{}
}

// gpu is the resource that alone counts on nodes that have it.
const gpu = "nvidia.com/gpu"

// utilization is what pods ask for and what the node has for them, of each resource that counts, and the threshold.
func (x *search) utilization(n *node, rules *snapshot.ScaleDown) (asked, given []int64, threshold int) {
	counts, threshold := []string{model.CPU, model.Memory}, rules.UtilizationThreshold
	if n.Allocatable.Get(gpu) > 0 {
		counts, threshold = []string{gpu}, rules.GPUUtilizationThreshold
	}
	asked, given = make([]int64, len(counts)), make([]int64, len(counts))
	for i, name := range counts {
		given[i] = n.Allocatable.Get(name)
	}
	for _, at := range n.pods {
		pod := &x.s.Pods[at]
		template := &x.s.Templates[pod.Template]
		facts := pod.Tie.Drain
		if facts == nil {
			facts = &snapshot.DrainFacts{}
		}
		if facts.Expendable || !facts.Overdue.IsZero() && x.s.Now.After(facts.Overdue) {
			continue
		}
		ignored := rules.IgnoreDaemonSetsUtilization && (facts.Daemon || template.Daemon) || rules.IgnoreMirrorPodsUtilization && facts.Mirror
		for i, name := range counts {
			if ignored {
				given[i] -= template.Requests.Get(name)
				continue
			}
			asked[i] += template.Requests.Get(name)
		}
	}
	return asked, given, threshold
}
