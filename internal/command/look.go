package command

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/standing"
)

// Sight is a leaver as a second look finds it, read from the API server itself.
type Sight struct {
	Leaver
	Pods []*corev1.Pod
	// Expected are the pods that the decision knew of, by UID; nil if nobody remembers.
	Expected map[types.UID]bool
	// Budgets by namespace.
	Budgets map[string][]*policyv1.PodDisruptionBudget
}

// Objection is why a leaver has to stay after all; empty if nothing speaks against its
// removal. What was decided is not decided again here: only what has come up since counts.
func (r *Record) Objection(s Sight, now time.Time) string {
	if s.Claim.Annotations[karpenterv1.AnnotationDoNotDisrupt] == "true" || s.Node != nil && s.Node.Annotations[karpenterv1.AnnotationDoNotDisrupt] == "true" {
		return fmt.Sprintf(`Disruption is blocked through the %q annotation`, karpenterv1.AnnotationDoNotDisrupt)
	}
	forced := r.Reason == plan.Drifted && s.Claim.Spec.TerminationGracePeriod != nil
	for _, pod := range s.Pods {
		if r.isStranger(pod, s.Expected) {
			return fmt.Sprintf("Pod came after the decision (Pod=%s/%s)", pod.Namespace, pod.Name)
		}
		if forced || !standing.Active(pod) {
			continue
		}
		if !standing.Disruptable(pod, now) {
			return fmt.Sprintf("Pod has %q annotation (Pod=%s/%s)", karpenterv1.AnnotationDoNotDisrupt, pod.Namespace, pod.Name)
		}
		if text := held(pod, s.Budgets[pod.Namespace], now); text != "" {
			return text
		}
	}
	return ""
}

// isStranger reports whether the decision did not know a pod that would have to move. Its
// place was not thought of, and neither was whether it comes back at all. Where nobody
// remembers the pods, those are strangers that were bound since.
func (r *Record) isStranger(pod *corev1.Pod, expected map[types.UID]bool) bool {
	if !standing.Reschedulable(pod) || standing.Stays(pod) {
		return false
	}
	if expected != nil {
		return !expected[pod.UID]
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return !c.LastTransitionTime.Time.Before(r.Begun.Truncate(time.Second))
		}
	}
	return pod.CreationTimestamp.After(r.Begun)
}

// held is the budget that would not let the pod go now.
func held(pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget, now time.Time) string {
	if !standing.Evictable(pod, now) {
		return ""
	}
	covering := standing.Covering(budgets, pod)
	if len(covering) > 1 {
		names := make([]string, len(covering))
		for i, b := range covering {
			names[i] = b.Namespace + "/" + b.Name
		}
		return fmt.Sprintf("Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[%s])", strings.Join(names, " "))
	}
	for _, b := range covering {
		if b.Status.DisruptionsAllowed <= 0 && !standing.Ignores(b, pod) {
			return fmt.Sprintf("Pdb prevents pod evictions (PodDisruptionBudget=[%s/%s])", b.Namespace, b.Name)
		}
	}
	return ""
}

// WorthGoingOn reports whether the command still makes sense when only some of its claims
// can go: drift and emptiness are about each node alone, and otherwise what goes has to
// cost more than what was bought for it.
func (r *Record) WorthGoingOn(going []string) bool {
	if len(going) == 0 {
		return false
	}
	if r.Reason != plan.Underutilized || len(r.Replacements) == 0 {
		return true
	}
	var gone, bought model.Money
	for _, m := range r.Claims {
		for _, name := range going {
			if m.Claim == name {
				gone += m.Price
			}
		}
	}
	for _, m := range r.Replacements {
		bought += m.Price
	}
	return gone > bought
}
