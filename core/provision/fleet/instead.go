package fleet

import (
	"slices"

	"tenon/core/model"
	"tenon/core/provision/search"
)

// limitsOf is what limits leave to a question: with Instead, what its nodes take now is free
// for those that come in their place.
func (f *Fleet) limitsOf(q *Question) [][]model.Amount {
	if !q.Instead {
		return f.limits
	}
	out := slices.Clone(f.limits)
	for _, at := range q.Nodes {
		n := &f.Snapshot.Nodes[at]
		pool, known := f.poolNamed(n.Pool)
		if !known || !n.Counts() {
			continue
		}
		out[pool] = slices.Clone(out[pool])
		for i := range out[pool] {
			out[pool][i].Value += search.Share(n, out[pool][i].Name)
		}
	}
	return out
}
