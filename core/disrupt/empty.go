package disrupt

import "tenon/core/plan"

// empty gives up the nodes that nobody misses: together, since none waits for another.
func (x *search) empty() {
	ledger := x.newLedger(plan.Empty)
	var nodes []int
	for i := range x.nodes {
		n := &x.nodes[i]
		if !n.candidate {
			continue
		}
		text, kind, until := x.mayConsolidate(n)
		if text != "" {
			n.keep(kind, "", text)
			n.prospect.Until = until
			if x.s.Pools[n.pool].Replicas != nil {
				n.prospect.Event = "" // nobody expects it to be consolidated
			}
			continue
		}
		n.eligible = true
		if !n.isEmpty() {
			continue
		}
		if text, ok := ledger.add(n); !ok {
			x.hold(n, plan.Empty, text)
			n.eligible = false
			continue
		}
		nodes = append(nodes, i)
	}
	if len(nodes) == 0 {
		return
	}
	p := &proposal{reason: plan.Empty, nodes: nodes, ledger: ledger}
	p.asked.Nodes = nodes
	for _, n := range nodes {
		p.price += x.nodes[n].Price
	}
	x.accept(p)
}
