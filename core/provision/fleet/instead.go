package fleet

import (
	"slices"

	"tenon/core/model"
	"tenon/core/provision/search"
	"tenon/core/snapshot"
)

// limitsOf is what limits leave to a question: with Instead, what its nodes take now is free
// for those that come in their place.
func (b *Fleet) limitsOf(q *Question) [][]model.Amount {
	if !q.Instead {
		return b.limits
	}
	out := slices.Clone(b.limits)
	for _, at := range q.Nodes {
		n := &b.Snapshot.Nodes[at]
		pool := slices.IndexFunc(b.Snapshot.Pools, func(p snapshot.Pool) bool { return p.Name == n.Pool })
		if pool < 0 || !n.Counts() {
			continue
		}
		out[pool] = slices.Clone(out[pool])
		for i := range out[pool] {
			out[pool][i].Value += search.Share(n, out[pool][i].Name)
		}
	}
	return out
}
