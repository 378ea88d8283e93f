package disrupt

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

// retain takes nodes out of a group and makes them receivers where that costs less than what the group would
// buy otherwise: a group seldom fills its last node, and what it leaves free is of use to the rest, the
// nodes of the groups that follow.
func (x *search) retain(nodes, receivers, rest []snapshot.NodeIndex) (group, takers []snapshot.NodeIndex) {
	if len(rest) == 0 {
		return nodes, receivers
	}
	later := x.mixtureOf(rest)
	cost, buys := x.outlay(nodes, receivers, later)
	for range fewTries {
		if !buys || len(nodes) < 2 {
			break
		}
		last := nodes[len(nodes)-1] // the least wasteful one
		if !x.receives(&x.nodes[last]) {
			break
		}
		fewer, more := nodes[:len(nodes)-1], append(slices.Clone(receivers), last)
		less, still := x.outlay(fewer, more, later)
		if n := &x.nodes[last]; less+float64(n.Price)-n.worth > cost {
			break
		}
		nodes, receivers, buys, cost = fewer, more, still, less
	}
	return nodes, receivers
}

// outlay is what has to be bought for the pods of some nodes, less what the room that receivers have left
// then is worth to later pods.
func (x *search) outlay(nodes, receivers []snapshot.NodeIndex, later mixture) (cost float64, buys bool) {
	p, refused := x.propose(plan.Underutilized, nodes, receivers, true)
	if refused != nil {
		return 0, false
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
	cost = float64(p.answer.Price)
	for _, n := range receivers {
		left, known := after[n]
		if !known {
			left = x.fleet.Room(n)
		}
		cost -= later.fill(left)
	}
	return cost, len(p.answer.Claims) > 0
}
