package disrupt

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

// groupPods is about how many pods are moved by one disruption: enough to fill new nodes
// of every size well, few enough that one that fails does not hold up the fleet.
const groupPods = 300

// underutilized looks for nodes whose pods would cost less elsewhere.
func (x *search) underutilized() {
	x.appraise()
	for p := range snapshot.PoolIndex(len(x.pools)) {
		x.regroup(p)
	}
	x.avoidNewNodes()
	x.sweep()
}

// regroup packs the leavers of one pool anew, a group at a time.
func (x *search) regroup(p snapshot.PoolIndex) {
	if x.pools[p].left(plan.Underutilized) == 0 {
		return
	}
	var candidates, receivers []snapshot.NodeIndex
	for i := range x.nodes {
		n := &x.nodes[i]
		switch {
		case n.pool != p || n.state == gone:
		case n.state == consolidatable:
			candidates = append(candidates, n.at)
		case x.receives(n):
			receivers = append(receivers, n.at)
		}
	}
	if len(candidates) < 2 {
		return
	}
	all := x.leavers(candidates, x.lasting(receivers, candidates))
	leavers := x.withinBudgets(all)
	if len(leavers) < 2 {
		return
	}
	// Leavers without a budget take no pods either: those pods would have to move again once the budget
	// allows it.
	stays := x.roomy(without(slices.Concat(receivers, candidates), all), leavers)
	pods := 0
	for _, n := range leavers {
		pods += len(x.nodes[n].moving)
	}
	groups := (pods + groupPods - 1) / groupPods
	var spare []snapshot.NodeIndex // nodes on which earlier groups left room
	for g := range groups {
		if x.nearlySpent() {
			return
		}
		var rest []snapshot.NodeIndex
		for later := g + 1; later < groups; later++ {
			rest = append(rest, everyNth(leavers, later, groups)...)
		}
		receivers := x.solve(everyNth(leavers, g, groups), slices.Concat(spare, everyNth(stays, g, groups)), x.mixtureOf(rest))
		spare = x.roomy(receivers, rest)
	}
}

// without is a list without some of its nodes.
func without(list, some []snapshot.NodeIndex) []snapshot.NodeIndex {
	out := make(map[snapshot.NodeIndex]bool, len(some))
	for _, n := range some {
		out[n] = true
	}
	return slices.DeleteFunc(list, func(n snapshot.NodeIndex) bool { return out[n] })
}

// everyNth is one of several groups into which a list is divided in turn, so that the groups are alike.
func everyNth(list []snapshot.NodeIndex, group, groups int) []snapshot.NodeIndex {
	var out []snapshot.NodeIndex
	for i := group; i < len(list); i += groups {
		out = append(out, list[i])
	}
	return out
}

// withinBudgets are the nodes that budgets would let go together.
func (x *search) withinBudgets(nodes []snapshot.NodeIndex) []snapshot.NodeIndex {
	ledger := x.newBudgetUse(plan.Underutilized)
	var out []snapshot.NodeIndex
	for _, at := range nodes {
		if cause, ok := ledger.add(&x.nodes[at]); ok {
			out = append(out, at)
		} else {
			x.hold(&x.nodes[at], plan.Underutilized, cause)
		}
	}
	return out
}

// roomy are those of some nodes that could take at least one pod of others, by room.
func (x *search) roomy(nodes, others []snapshot.NodeIndex) []snapshot.NodeIndex {
	m := x.mixtureOf(others)
	var out []snapshot.NodeIndex
	for _, at := range x.lasting(nodes, others) {
		if n := &x.nodes[at]; x.receives(n) && slices.ContainsFunc(m.sizes, func(s size) bool { return most(s.need, x.fleet.Room(at)) > 0 }) {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, x.compareRoom)
	return out
}

// fewTries is how often a group that does not work is tried without one of its nodes.
const fewTries = 4

// solve gives up the nodes of a group if that is worth it, without the nodes that turn out to be in the
// way. It exchanges nodes with the receivers where that gains more, and returns the receivers.
func (x *search) solve(nodes, receivers []snapshot.NodeIndex, later mixture) []snapshot.NodeIndex {
	for range fewTries {
		if nodes, _ = x.releasable(nodes); len(nodes) == 0 {
			break
		}
		p, refused := x.propose(plan.Underutilized, nodes, receivers, true)
		if refused != nil {
			home := x.s.Pods[refused.pod].Node
			nodes = slices.DeleteFunc(nodes, func(at snapshot.NodeIndex) bool { return x.nodes[at].Name == home })
			continue
		}
		p = x.elsewhere(x.retain(p, later))
		if _, p.ledger = x.releasable(p.nodes); x.worthwhile(p) {
			for _, q := range slices.Compact([]*proposal{x.extend(p, later), p}) {
				if x.lands(q) {
					x.accept(q)
					return q.asked.Receivers
				}
			}
		}
		nodes = nodes[:len(nodes)/2]
	}
	return receivers
}

// releasable are those of some nodes that may go together, by budgets and by rules between pods.
func (x *search) releasable(nodes []snapshot.NodeIndex) ([]snapshot.NodeIndex, *budgetUse) {
	ledger := x.newBudgetUse(plan.Underutilized)
	var out []snapshot.NodeIndex
	for _, at := range nodes {
		if _, tied := x.hasPodRules(x.nodes[at].moving); tied {
			continue
		}
		if _, ok := ledger.add(&x.nodes[at]); ok {
			out = append(out, at)
		}
	}
	return out, ledger
}

// worthwhile reports whether a proposal may be carried out and its savings justify the evictions.
func (x *search) worthwhile(p *proposal) bool {
	if _, ok := x.cheaper(p); !ok {
		return false
	}
	_, ok := x.balanced(p)
	return ok
}
