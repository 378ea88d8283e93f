package podpolicy

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Movable tells pods that come back elsewhere when their node goes, and that nothing
// forbids to evict. budgets are those that cover the pod; see Covering.
func Movable(pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget, now time.Time) bool {
	return Reschedulable(pod) && Disruptable(pod, now) && !Blocked(pod, budgets, now)
}

// Blocked reports whether budgets would never let go of the pod, as far as their specs
// tell. Eviction refuses pods with more than one budget.
func Blocked(pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget, now time.Time) bool {
	if len(budgets) > 1 && Evictable(pod, now) {
		return true
	}
	for _, b := range budgets {
		if Forbids(b) && !Ignores(b, pod) {
			return true
		}
	}
	return false
}

// Covering are those of a namespace's budgets that select the pod, in their order.
func Covering(budgets []*policyv1.PodDisruptionBudget, pod *corev1.Pod) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, b := range budgets {
		if Selects(b, pod) {
			out = append(out, b)
		}
	}
	return out
}

// Selects reports whether a budget's selector picks a pod of its namespace. A nil selector
// picks nothing, an empty one everything, and one that cannot be read nothing.
func Selects(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	if b.Spec.Selector == nil {
		return false
	}
	if len(b.Spec.Selector.MatchExpressions) == 0 { // by far the most common, and cheap
		return labels.SelectorFromValidatedSet(b.Spec.Selector.MatchLabels).Matches(labels.Set(pod.Labels))
	}
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(pod.Labels))
}

// Forbids reports whether the budget's spec alone says that no disruption is ever allowed.
func Forbids(b *policyv1.PodDisruptionBudget) bool {
	most, least := b.Spec.MaxUnavailable, b.Spec.MinAvailable
	return most != nil && (most.Type == intstr.Int && most.IntVal == 0 || most.Type == intstr.String && most.StrVal == "0%") ||
		least != nil && least.Type == intstr.String && least.StrVal == "100%"
}

// Ignores reports whether the budget does not count the pod, because it is not healthy.
func Ignores(b *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	policy := b.Spec.UnhealthyPodEvictionPolicy
	return policy != nil && *policy == policyv1.AlwaysAllow && Unready(pod)
}

// Never says why a budget can never allow a disruption: because its spec says so, or
// because it asks for as many healthy pods as there are meant to be. It is empty for a
// budget that will allow one when its pods are healthy, and for one that its controller has not looked
// at since it changed.
func Never(b *policyv1.PodDisruptionBudget) string {
	most, least := b.Spec.MaxUnavailable, b.Spec.MinAvailable
	expected, desired := b.Status.ExpectedPods, b.Status.DesiredHealthy
	switch {
	case Forbids(b) && most != nil:
		return "maxUnavailable is " + most.String()
	case Forbids(b):
		return "minAvailable is " + least.String()
	case b.Status.ObservedGeneration < b.Generation || expected <= 0 || desired < expected:
		return ""
	case least != nil:
		return fmt.Sprintf("minAvailable is %s of %d pod(s)", least, expected)
	}
	return fmt.Sprintf("it wants %d of %d pod(s) healthy", desired, expected)
}
