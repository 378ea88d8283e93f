package fleet

import (
	"slices"

	"tenon/core/model"
	"tenon/core/provision/search"
	"tenon/core/snapshot"
)

// limitsOf is what limits leave to a question: with Instead, what its nodes take now is free
// for those that come in their place.
func (f *Fleet) limitsOf(q *Question) [][]model.Amount {
	if !q.Instead {
		return f.limits
	}
	out := f.limits
	for _, at := range q.Nodes {
		n := &f.Snapshot.Nodes[at]
		if pool, _ := f.poolNamed(n.Pool); n.Counts() {
			out = f.changed(out, pool, func(limit string) int64 { return search.Share(n, limit) })
		}
	}
	return out
}

// changed is what limits leave once something has changed in a pool, which may be unknown: its limits change, and those of the cluster do
// in every pool's list.
func (f *Fleet) changed(limits [][]model.Amount, pool snapshot.PoolIndex, by func(limit string) int64) [][]model.Amount {
	out := slices.Clone(limits)
	for p := range out {
		if p != int(pool) && len(f.Snapshot.Settings.Limits) == 0 {
			continue
		}
		out[p] = slices.Clone(out[p])
		for i := range out[p] {
			if p == int(pool) || f.Snapshot.OfCluster(out[p], i) {
				out[p][i].Value += by(out[p][i].Name)
			}
		}
	}
	return out
}
