package ingest

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
)

// Movable reports whether the pod will be made again elsewhere when its node goes, and
// nothing forbids to evict it: "reschedulable and disruptable and not fully blocked by a
// PDB".
func (t *Translator) Movable(pod *corev1.Pod) bool {
	return isReschedulable(pod) && (!isActive(pod) || !t.heldBack(pod)) && !t.isBlocked(pod)
}

func isActive(pod *corev1.Pod) bool { return !isTerminal(pod) && pod.DeletionTimestamp == nil }

// isReschedulable tells pods whose controller will want another one. A StatefulSet makes
// the next pod of a name only when the last is gone, so a terminating one still counts.
func isReschedulable(pod *corev1.Pod) bool {
	terminating := !isTerminal(pod) && pod.DeletionTimestamp != nil
	return (isActive(pod) || terminating && ownedBy(pod, "apps/v1", "StatefulSet")) && !isDaemon(pod) && !isMirror(pod)
}

// heldBack reports whether the pod's annotation do-not-disrupt counts now: "true" always,
// a positive duration until the pod has run that long, anything else never.
func (t *Translator) heldBack(pod *corev1.Pod) bool {
	text, ok := pod.Annotations[karpenterv1.AnnotationDoNotDisrupt]
	if !ok {
		return false
	}
	if text == "true" {
		return true
	}
	duration, err := time.ParseDuration(text)
	if err != nil || duration <= 0 {
		return false
	}
	return pod.Status.StartTime == nil || t.options.Now.Sub(pod.Status.StartTime.Time) < duration
}

// isBlocked reports whether budgets would never let go of the pod. Eviction refuses pods
// with more than one budget.
func (t *Translator) isBlocked(pod *corev1.Pod) bool {
	budgets := t.index.budgetsOf(pod)
	if len(budgets) > 1 && t.isEvictable(pod) {
		return true
	}
	for _, b := range budgets {
		if blocksAlways(b) && !(allowsUnhealthy(b) && isUnready(pod)) {
			return true
		}
	}
	return false
}

func (t *Translator) isEvictable(pod *corev1.Pod) bool {
	disrupted := taints([]corev1.Taint{karpenterv1.TaintDisrupted()})
	_, keepsAway := model.Untolerated(disrupted, tolerations(pod.Spec.Tolerations), false)
	return isActive(pod) && keepsAway && !isMirror(pod) && !t.heldBack(pod)
}

// budgetsOf finds the budgets of a pod. A nil selector matches nothing, an empty one all.
func (x *Index) budgetsOf(pod *corev1.Pod) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, b := range x.disruptions.in(namespaceOf(pod)) {
		if selector(b.Spec.Selector).Matches(pod.Labels) {
			out = append(out, b)
		}
	}
	return out
}

func blocksAlways(b *policyv1.PodDisruptionBudget) bool {
	most, least := b.Spec.MaxUnavailable, b.Spec.MinAvailable
	return most != nil && (most.Type == intstr.Int && most.IntVal == 0 || most.Type == intstr.String && most.StrVal == "0%") ||
		least != nil && least.Type == intstr.String && least.StrVal == "100%"
}

func allowsUnhealthy(b *policyv1.PodDisruptionBudget) bool {
	return b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
}

func isUnready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}
