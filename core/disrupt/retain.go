package disrupt

import (
	"slices"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// retain takes nodes out of a proposal and makes them receivers where that gains as much: a group seldom fills
// the last node that it buys. What a node of its own leaves free is of use to later pods, those of the groups that
// follow. Without later pods, a node is kept only if nothing is bought then: a smaller one for the rest is cheaper.
func (x *search) retain(p *proposal, later mixture) *proposal {
	best := p
	for range fewTries {
		if len(best.answer.Claims) == 0 || len(best.nodes) < 2 {
			break
		}
		q := x.retainOne(best, later)
		if q == nil {
			break
		}
		best = q
	}
	if len(later.sizes) == 0 && len(best.answer.Claims) > 0 {
		return p
	}
	return best
}

// retainOne takes the node out of a proposal with which it gains most, of the least wasteful ones of each price; nil if it gains less
// without any of them.
func (x *search) retainOne(p *proposal, later mixture) *proposal {
	var best *proposal
	most := x.benefit(p, later)
	tried := map[model.Money]bool{}
	for i, at := range slices.Backward(p.nodes) {
		n := &x.nodes[at]
		if tried[n.Price] || !x.receives(n) {
			continue
		}
		if len(tried) == fewTries {
			break
		}
		tried[n.Price] = true
		q, refused := x.propose(plan.Underutilized, slices.Delete(slices.Clone(p.nodes), i, i+1), append(slices.Clone(p.asked.Receivers), at), true)
		if refused != nil {
			continue
		}
		if benefit := x.benefit(q, later); benefit >= most {
			best, most = q, benefit
		}
	}
	return best
}

// benefit is what a proposal gains, with what the room that its receivers have left is worth to later pods.
func (x *search) benefit(p *proposal, later mixture) float64 {
	benefit := p.gain()
	if len(later.sizes) == 0 {
		return benefit
	}
	after := map[snapshot.NodeIndex][]int64{}
	for _, on := range p.answer.Existing {
		left := slices.Clone(x.fleet.Room(on.Node))
		for _, pod := range on.Pods {
			for d, need := range x.fleet.Need(pod) {
				left[d] -= need
			}
		}
		after[on.Node] = left
	}
	for _, n := range p.asked.Receivers {
		left, known := after[n]
		if !known {
			left = x.fleet.Room(n)
		}
		benefit += later.fill(left)
	}
	return benefit
}
