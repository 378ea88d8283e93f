package disrupt

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

// mostMisses is how many receivers of a proposal are tried in vain, one after the other, as nodes that go with it.
const mostMisses = 16

// extend makes receivers of the same pool part of a proposal where that gains more, the most wasteful first. Node by node, each of
// them seemed worth keeping; packed together with the pods of the group, its pods may cost less than it does.
func (x *search) extend(p *proposal, later mixture) *proposal {
	var wasteful []snapshot.NodeIndex
	for _, at := range p.asked.Receivers {
		if n := &x.nodes[at]; n.pool == x.nodes[p.nodes[0]].pool && n.state == consolidatable && n.wasteful() {
			wasteful = append(wasteful, at)
		}
	}
	x.sortByWaste(wasteful)
	most := x.benefit(p, later)
	var missed []*node
	for _, at := range wasteful {
		n := &x.nodes[at]
		if len(missed) > 0 && n.like(missed[len(missed)-1]) {
			continue
		}
		if x.nearlySpent() || len(missed) == mostMisses {
			break
		}
		missed = append(missed, n)
		q := x.together(append(slices.Clone(p.nodes), at), without(slices.Clone(p.asked.Receivers), []snapshot.NodeIndex{at}))
		if q == nil {
			continue
		}
		if benefit := x.benefit(q, later); benefit > most {
			p, most, missed = q, benefit, nil
		}
	}
	return p
}

// together is a proposal to give up nodes; nil if one of them may not go now, or if that is not worth it.
func (x *search) together(nodes, receivers []snapshot.NodeIndex) *proposal {
	going, ledger := x.releasable(nodes)
	if len(going) < len(nodes) {
		return nil
	}
	p, refused := x.propose(plan.Underutilized, nodes, receivers, true)
	if refused != nil || !x.worthwhile(p) {
		return nil
	}
	p.ledger = ledger
	return p
}
