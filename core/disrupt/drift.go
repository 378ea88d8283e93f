package disrupt

import (
	"cmp"
	"slices"

	"tenon/core/plan"
)

// drift gives up nodes that are no more what they should be, those first that have been so
// for longest, and before them those that nobody would miss. What it costs does not matter.
func (x *search) drift() {
	for _, at := range x.drifted() {
		n := &x.nodes[at]
		x.looked++
		ledger := x.newLedger(plan.Drifted)
		if text, ok := ledger.add(n); !ok {
			n.keep(plan.Waiting, plan.Drifted, text)
			continue
		}
		if x.spent() {
			n.keep(plan.Waiting, plan.Drifted, notYet)
			continue
		}
		var receivers []int
		for _, to := range x.withRoom() {
			if to != at && x.receives(&x.nodes[to]) {
				receivers = append(receivers, to)
			}
		}
		p, refused := x.propose(plan.Drifted, []int{at}, receivers, true)
		if refused != nil && refused.later {
			n.keep(plan.Waiting, plan.Drifted, refused.text)
			continue
		}
		if refused != nil {
			n.keep(plan.Blocked, plan.Drifted, refused.text)
			n.prospect.Event = eventBlocked
			continue
		}
		p.ledger = ledger
		x.accept(p)
	}
}

// drifted are the candidates for drift in order. Nodes of static pools are replaced one by
// one by those who keep the number of their replicas.
func (x *search) drifted() []int {
	var out []int
	for i := range x.nodes {
		if n := &x.nodes[i]; n.candidate && !n.gone && n.Life.Drifted != "" && x.s.Pools[n.pool].Replicas == nil {
			n.eligible = false // it goes for this reason, or not at all
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		m, n := &x.nodes[a], &x.nodes[b]
		return cmp.Or(
			cmp.Compare(min(len(m.moving), 1), min(len(n.moving), 1)),
			m.Life.Since.Compare(n.Life.Since), cmp.Compare(m.Name, n.Name), cmp.Compare(a, b),
		)
	})
	return out
}
