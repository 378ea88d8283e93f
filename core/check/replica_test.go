package check

import (
	"testing"

	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// fixed makes the pool static, and adds a claim for a missing node of it.
func (w *world) fixed(replicas int64, claims int) *snapshot.Pool {
	w.s.Settings.StaticCapacity = true
	pool := &w.s.Pools[0]
	pool.Replicas, pool.Unready.Code = &replicas, reason.PoolStatic
	for range claims {
		c := w.claim("default", nil, "small/a/spot", "small/b/spot")
		c.Replica, c.Requirements = true, pool.Requirements
	}
	return pool
}

func TestReplicas(t *testing.T) {
	cases{
		"as many as are missing":    {build: func(w *world) { w.node("n", "a"); w.fixed(3, 2) }},
		"more than are missing":     {build: func(w *world) { w.node("n", "a"); w.fixed(2, 2) }, want: []Rule{Replicas}},
		"in place of one that goes": {build: func(w *world) { w.node("n", "a").Leaving = true; w.fixed(1, 1) }},
		"beyond the limit with one that goes": {
			build: func(w *world) {
				w.node("n", "a").Leaving = true
				w.fixed(1, 1).Limits = []model.Amount{{Name: model.Nodes, Value: 1}}
			},
			want: []Rule{Limit},
		},
		"of a pool that follows the pods": {build: func(w *world) { w.fixed(1, 1).Replicas = nil }, want: []Rule{PoolUnready}},
		"of a pool that is held":          {build: func(w *world) { w.fixed(1, 1).Held.Code = reason.NotReady }, want: []Rule{PoolUnready}},
		"while the gate is shut":          {build: func(w *world) { w.fixed(1, 1); w.s.Settings.StaticCapacity = false }, want: []Rule{PoolUnready}},
		"with a pod": {
			build: func(w *world) { w.fixed(1, 1); w.p.Claims[0].Pods = []snapshot.PodIndex{w.pod("web")} },
			want:  []Rule{PodUninvited, ClaimResources},
		},
		"with a request": {
			build: func(w *world) { w.fixed(1, 1); w.p.Claims[0].Requests.CPU = 1 },
			want:  []Rule{ClaimResources},
		},
		"that is narrowed": {
			build: func(w *world) { w.fixed(1, 1); w.p.Claims[0].Requirements = w.kind("small").Requirements },
			want:  []Rule{ClaimNarrowed},
		},
	}.run(t)
}
