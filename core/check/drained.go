package check

import (
	"tenon/core/snapshot"
)

// held reports whether a pod may not be evicted even if budgets allow it. In a group that goes by the rules of Cluster Autoscaler
// these come first; see core/drainable.
func (j *judge) held(pool *snapshot.Pool, pod *snapshot.Pod) bool {
	protected := !pod.Terminating && pod.Tie.Holds(j.s.Now)
	if pool == nil || pool.Rules() == nil {
		return protected
	}
	return j.drainHeld(&pool.Rules().Drain, pod) || protected && (!pod.Tie.Unsafe || pod.Tie.Asked && !pool.Expends(pod))
}

func (j *judge) drainHeld(r *snapshot.DrainRules, pod *snapshot.Pod) bool {
	f := pod.Tie.Drain
	if f == nil || f.Expendable || f.Mirror || !f.Overdue.IsZero() && f.Overdue.Before(j.s.Now) {
		return false
	}
	if r.SkipNodesWithCustomControllerPods && (f.Orphaned || f.Counted && f.Replicas < r.MinReplicaCount) {
		return true
	}
	if f.Daemon || f.SafeToEvict == "true" || f.Ended {
		return false
	}
	old := pod.Created.Add(r.BlockingSystemPodTimeout).Before(j.s.Now)
	switch {
	case f.SafeToEvict == "on-completion", f.Bare, f.Custom && r.SkipNodesWithCustomControllerPods:
		return true
	case f.System && r.SkipNodesWithSystemPods:
		return !old
	}
	return f.SafeToEvict == "false" || f.Local && r.SkipNodesWithLocalStorage
}

// expends reports whether a pod on the node needs no other place when the node goes.
func (j *judge) expends(n *snapshot.Node, pod snapshot.PodIndex) bool {
	pool := j.poolOf(n)
	return pool != nil && pool.Expends(&j.s.Pods[pod])
}

// needed is why a node may not go yet by the rules of Cluster Autoscaler.
func (j *judge) needed(r *snapshot.ScaleDown, n *snapshot.Node) string {
	least := r.UnneededTime
	if n.Life.Unready {
		least = r.UnreadyTime
	}
	switch {
	case !r.Enabled || n.Life.Unready && !r.UnreadyEnabled:
		return "is of a group that does not shrink, or unready where such nodes stay"
	case n.Life.Unneeded.IsZero() || j.s.Now.Sub(n.Life.Unneeded) < least:
		return "has not been unneeded for long enough"
	case r.Rests.After(j.s.Now):
		return "is of a group that rests"
	}
	return ""
}
