package disrupt

import (
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// balance limits disruptions in pools with the policy Balanced: the disruption's share may be at most this
// many times the savings' share.
const balance = 2

// balanced judges a proposal by the policies of its pools, and notes the scores.
func (x *search) balanced(p *proposal) (reason.Cause, bool) {
	p.scores = nil
	seen := map[snapshot.PoolIndex]bool{}
	for _, at := range p.nodes {
		pool := x.nodes[at].pool
		if seen[pool] || x.s.Pools[pool].Consolidation.Policy != snapshot.Balanced {
			continue
		}
		seen[pool] = true
		score := x.score(p, pool)
		if score.Value()*balance < 1 {
			return reason.Cause{Code: reason.ScoreTooLow, Shares: score.Shares, Want: balance}, false
		}
		p.scores = append(p.scores, score)
	}
	return reason.Cause{}, true
}

// score compares what is saved and disturbed in one pool with the whole pool. Savings of
// several pools are shared out by the prices of their nodes.
func (x *search) score(p *proposal, pool snapshot.PoolIndex) plan.Score {
	var own, total model.Money
	var disturbed, all float64
	for i := range x.nodes {
		if n := &x.nodes[i]; n.pool == pool {
			total += n.Price
			all += x.disturbance(n)
		}
	}
	for _, at := range p.nodes {
		if n := &x.nodes[at]; n.pool == pool {
			own += n.Price
			disturbed += x.disturbance(n)
		}
	}
	out := plan.Score{Pool: x.pools[pool].name}
	if total > 0 && all > 0 && p.price > 0 {
		savings := float64(p.savings()) * float64(own) / float64(p.price)
		out.Savings, out.Disruption = savings/float64(total), disturbed/all
	}
	return out
}

// disturbance is 1 for the node and the cost of evicting its pods.
func (x *search) disturbance(n *node) float64 { return 1 + float64(n.cost)/ordinary }
