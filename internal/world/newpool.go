package world

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// noteNewPool notes pools that have just appeared and have not been judged yet.
func (w *World) noteNewPool(old, pool *karpenterv1.NodePool) {
	switch {
	case isJudged(pool) || pool.DeletionTimestamp != nil:
		delete(w.newPools, pool.Name)
	case old == nil:
		w.newPools[pool.Name] = w.clock.Now()
	}
}

// hasNewPool returns when the newest unjudged pool appeared; zero if there is none.
func (w *World) hasNewPool() time.Time {
	var last time.Time
	for _, at := range w.newPools {
		if at.After(last) {
			last = at
		}
	}
	return last
}

// isJudged reports whether it is known if the pool can be used: its own conditions are set, and its class
// has been looked at.
func isJudged(pool *karpenterv1.NodePool) bool {
	ready := readiness(pool)
	for i := range pool.Status.Conditions {
		if c := &pool.Status.Conditions[i]; c.Type == karpenterv1.ConditionNodeClassReady && isMomentary(c.Reason) {
			return false
		}
	}
	return ready != "" && ready != metav1.ConditionUnknown
}

// isMomentary reports whether a class is not ready for a reason that usually goes away in a moment: the
// class was just made, or is about to be.
func isMomentary(reason string) bool {
	return reason == karpenterv1.ReasonNodeClassUnknown || reason == karpenterv1.ReasonNodeClassNotFound
}
