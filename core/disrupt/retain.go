package disrupt

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

// retain takes nodes out of a proposal and makes them receivers where that gains as much: a group seldom fills
// the last node that it buys. What a node of its own leaves free is of use to later pods, those of the groups that
// follow. Without later pods, a node is kept only if nothing is bought then: a smaller one for the rest is cheaper.
func (x *search) retain(p *proposal, later mixture) *proposal {
	best, most := p, x.benefit(p, later)
	for range fewTries {
		if len(best.answer.Claims) == 0 || len(best.nodes) < 2 {
			break
		}
		fewer, last := best.nodes[:len(best.nodes)-1], best.nodes[len(best.nodes)-1] // the least wasteful one
		if !x.receives(&x.nodes[last]) {
			break
		}
		q, refused := x.propose(plan.Underutilized, fewer, append(slices.Clone(best.asked.Receivers), last), true)
		if refused != nil {
			break
		}
		benefit := x.benefit(q, later)
		if benefit < most {
			break
		}
		best, most = q, benefit
	}
	if len(later.sizes) == 0 && len(best.answer.Claims) > 0 {
		return p
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
