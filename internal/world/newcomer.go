package world

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// acquaintance is for how long a new pool is waited for that has not been judged yet.
const acquaintance = 5 * time.Second

// meet notes pools that have just appeared and have not been judged yet. People apply pools,
// classes and workloads with one command; deciding at once would tell them that nothing is
// ready, or buy from whichever pool is judged first although another one has more weight.
func (w *World) meet(old, pool *karpenterv1.NodePool) {
	switch {
	case isJudged(pool) || pool.DeletionTimestamp != nil:
		delete(w.newcomers, pool.Name)
	case old == nil:
		w.newcomers[pool.Name] = w.clock.Now().Add(acquaintance)
	}
}

// acquainted is when no new pool has to be waited for any more; zero if there is none.
func (w *World) acquainted() time.Time {
	var last time.Time
	for _, until := range w.newcomers {
		if until.After(last) {
			last = until
		}
	}
	return last
}

// isJudged reports whether it was found out whether the pool can be used: its own conditions
// are there, and its class has been looked at.
func isJudged(pool *karpenterv1.NodePool) bool {
	ready := readiness(pool)
	for i := range pool.Status.Conditions {
		if c := &pool.Status.Conditions[i]; c.Type == karpenterv1.ConditionNodeClassReady && isPassing(c.Reason) {
			return false
		}
	}
	return ready != "" && ready != metav1.ConditionUnknown
}

// isPassing reports whether a class is not ready for a reason that mostly is gone in a moment:
// it was made just now, or is about to be.
func isPassing(reason string) bool {
	return reason == karpenterv1.ReasonNodeClassUnknown || reason == karpenterv1.ReasonNodeClassNotFound
}
