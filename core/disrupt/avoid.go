package disrupt

import (
	"cmp"
	"slices"

	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision/fleet"
	"tenon/core/snapshot"
)

// avoidNewNodes does without new nodes that are not well filled, if what is on them also fits on
// nodes that stay: their pods move in any case. A group knows its own share of those
// nodes only.
func (x *search) avoidNewNodes() {
	for i := range x.list {
		d := &x.list[i]
		d.Replacements = slices.DeleteFunc(d.Replacements, func(c plan.Claim) bool {
			return x.wasteful(&c) && !x.spent() && x.moveToOthers(d, &c)
		})
	}
}

// elsewhere lets the pods of a group that would buy a node which is not well filled also use room on nodes of other
// pools, where that gains more. The whole group is packed anew: rules between pods may forbid to move only those of
// the new node, and its other pods may have taken the room that these need. Nodes of the same pool may belong to
// later groups.
func (x *search) elsewhere(p *proposal) *proposal {
	if !slices.ContainsFunc(p.answer.Claims, func(c plan.Claim) bool { return x.wasteful(&c) }) {
		return p
	}
	others, _ := x.outlook(p.asked.Pods, -1)
	others = slices.DeleteFunc(others, func(at snapshot.NodeIndex) bool { return x.nodes[at].pool == x.nodes[p.nodes[0]].pool })
	if len(others) == 0 {
		return p
	}
	receivers := slices.Concat(p.asked.Receivers, others)
	q, refused := x.propose(plan.Underutilized, p.nodes, receivers, true)
	if refused != nil || q.gain() <= p.gain() {
		return p
	}
	return q
}

// wasteful tells nodes to come of which a good part would stay empty. A replica is there for
// the number of nodes, and not for the pods that will be on it.
func (x *search) wasteful(c *plan.Claim) bool {
	if c.Replica {
		return false
	}
	value := 0.0
	for _, p := range c.Pods {
		value += x.value[p]
	}
	return value < 0.9*float64(c.Offer.Price)
}

// moveToOthers puts the pods of a claim on nodes that stay.
func (x *search) moveToOthers(d *plan.Disruption, c *plan.Claim) bool {
	if slices.ContainsFunc(c.Pods, x.fleet.Ruled) {
		return false // the claim counts for their rules already
	}
	receivers, dearest := x.outlook(c.Pods, -1)
	if dearest > 0 {
		return false
	}
	asked := fleet.Question{Pods: c.Pods, Receivers: receivers, Effort: x.part(questionEffort)}
	answer, obstacle := x.fleet.Ask(asked)
	if obstacle != nil {
		return false
	}
	x.fleet = x.fleet.With(asked, answer)
	for _, l := range answer.Existing {
		x.take(&x.nodes[l.Node], l.Pods)
		name := x.nodes[l.Node].Name
		at := slices.IndexFunc(d.Moves, func(m plan.Placement) bool { return m.Node == name })
		if at < 0 {
			at = len(d.Moves)
			d.Moves = append(d.Moves, plan.Placement{Node: name})
		}
		d.Moves[at].Pods = append(d.Moves[at].Pods, l.Pods...)
	}
	slices.SortFunc(d.Moves, func(a, b plan.Placement) int { return cmp.Compare(a.Node, b.Node) })
	d.Savings += model.Money(c.Offer.Price)
	return true
}
