package ingest

import (
	appsv1 "k8s.io/api/apps/v1"

	"tenon/internal/owner"
)

// former is what ReplicaSets belonged to that are gone. The last pods of a set often outlive it, by
// a moment or by their time to stop, and a watch of ReplicaSets may be ahead of that of pods: they
// are pods of the same Deployment still.
type former struct {
	parents map[owner.Ref]owner.Ref
	order   []owner.Ref // the oldest first
}

// mostFormer is how many are remembered. Their pods are gone soon.
const mostFormer = 1000

// note remembers what a set belonged to that is gone, or that another of its name has replaced.
func (f *former) note(was, is *appsv1.ReplicaSet) {
	if was == nil || is != nil && is.UID == was.UID {
		return
	}
	set, parent := owner.Is("apps/v1", "ReplicaSet", was), owner.Of(was)
	if parent.None() {
		return
	}
	if _, known := f.parents[set]; !known {
		f.order = append(f.order, set)
	}
	f.parents[set] = parent
	if len(f.order) > mostFormer {
		delete(f.parents, f.order[0])
		f.order = f.order[1:]
	}
}
