package ingest

import (
	appsv1 "k8s.io/api/apps/v1"

	"tenon/internal/owner"
)

// former holds the owners of deleted ReplicaSets. The last pods of a set often outlive it, for
// a moment or for their grace period, and the watch of ReplicaSets may be ahead of that of pods: they
// still are pods of the same Deployment.
type former struct {
	parents map[owner.Ref]owner.Ref
	order   []owner.Ref // the oldest first
}

// mostFormer is how many are remembered. Their pods are gone soon.
const mostFormer = 1000

// note remembers the owner of a set that was deleted, or replaced by another of the same name.
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
