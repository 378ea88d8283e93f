// Package mark has the rules for what a claim in service says of itself. More than one controller applies
// them: a write that is made anyway says all that is known by then, because each write to a claim
// costs the API server more than a write to any other object of a growing fleet.
//
// It is pure: it sets conditions, and writes no object.
package mark

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/core/plan"
)

// enough is the part of what was promised that is taken for all of it: kernels and
// hypervisors keep some memory for themselves, and how much is not published.
const enough = 0.9

// Quiet marks a claim Consolidatable on whose node nothing has happened for as long as its pool says,
// and otherwise returns after how long that may be so; zero if only an event changes it.
func Quiet(s *condition.Set, pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim, now time.Time) time.Duration {
	quiet, known := quietFrom(s, pool, claim)
	if known && !now.Before(quiet) {
		s.SetTrue(karpenterv1.ConditionConsolidatable)
		return 0
	}
	s.Clear(karpenterv1.ConditionConsolidatable)
	if !known {
		return 0
	}
	return quiet.Sub(now)
}

// quietFrom is when the claim can be marked if no pod comes or goes until then. It is not
// known while the node starts, and for pools that are not consolidated.
func quietFrom(s *condition.Set, pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim) (time.Time, bool) {
	after := pool.Spec.Disruption.ConsolidateAfter.Duration
	initialized, found := s.Get(karpenterv1.ConditionInitialized)
	if after == nil || pool.IsStatic() || !found || initialized.Status != metav1.ConditionTrue {
		return time.Time{}, false
	}
	if claim.Status.LastPodEventTime.IsZero() {
		return initialized.LastTransitionTime.Add(*after), true
	}
	return claim.Status.LastPodEventTime.Add(*after), true
}

// Consistent says whether a node is as large as its claim was promised.
func Consistent(s *condition.Set, claim *karpenterv1.NodeClaim, node *corev1.Node) {
	if len(Shortages(claim, node)) == 0 {
		s.SetTrue(karpenterv1.ConditionConsistentStateFound)
	} else {
		s.SetFalse(karpenterv1.ConditionConsistentStateFound, "ConsistencyCheckFailed", "Consistency Check Failed")
	}
}

// Shortages are what a node has too little of, in words, sorted by resource.
// Only what was requested matters, and only where the provider has said how much to expect.
func Shortages(claim *karpenterv1.NodeClaim, node *corev1.Node) []string {
	var out []string
	requests := claim.Spec.Resources.Requests
	for _, name := range order.Keys(requests) {
		asked, expected, found := requests[name], claim.Status.Capacity[name], node.Status.Capacity[name]
		if asked.IsZero() || expected.IsZero() {
			continue
		}
		if part := found.AsApproximateFloat64() / expected.AsApproximateFloat64(); part < enough {
			out = append(out, fmt.Sprintf("expected %s of resource %s, but found %s (%0.1f%% of expected)",
				expected.String(), name, found.String(), part*100))
		}
	}
	return out
}

// Leaving says why a command removes the claim's node, and what becomes of the node. It reports whether that is new: what others say of
// the node later stays.
func Leaving(s *condition.Set, why plan.Reason, outline string) bool {
	if !s.SetTrueBecause(karpenterv1.ConditionDisruptionReason, string(why), string(why)) {
		return false
	}
	s.SetTrueBecause(karpenterv1.ConditionDisruptable, string(why), outline)
	return true
}

// Staying takes back what Leaving said, and reports whether there was anything to take back. What keeps the node is for the
// next evaluation to say.
func Staying(s *condition.Set) bool {
	if !s.Clear(karpenterv1.ConditionDisruptionReason) {
		return false
	}
	s.Clear(karpenterv1.ConditionDisruptable)
	return true
}
