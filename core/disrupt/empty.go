package disrupt

import (
	"tenon/core/plan"
	"tenon/core/provision/fleet"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// empty gives up the nodes without pods that need them, each in a disruption of its own, so that one that
// fails does not hold up the others.
func (x *search) empty() {
	ledger := x.newBudgetUse(plan.Empty)
	var nodes []snapshot.NodeIndex
	for i := range x.nodes {
		n := &x.nodes[i]
		if n.state != candidate || rulesOf(x.s, n.pool) != nil { // see scaleDown
			continue
		}
		if cause, kind, until := x.mayConsolidate(n); cause.Code != reason.None {
			n.keep(kind, "", cause)
			n.prospect.Until = until
			continue
		}
		n.state = consolidatable
		if !n.isEmpty() {
			continue
		}
		if cause, ok := ledger.add(n); !ok {
			x.hold(n, plan.Empty, cause)
			n.state = candidate
			continue
		}
		nodes = append(nodes, n.at)
	}
	if len(nodes) == 0 {
		return
	}
	ledger.commit()
	x.fleet = x.fleet.With(fleet.Question{Nodes: nodes}, fleet.Answer{})
	for _, n := range nodes {
		x.enter(&proposal{reason: plan.Empty, nodes: []snapshot.NodeIndex{n}, price: x.nodes[n].Price})
	}
}
