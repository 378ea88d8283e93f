package ingest

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"tenon/internal/podpolicy"
)

// Movable reports whether the pod will be created again elsewhere when its node is removed, and
// nothing forbids its eviction: "reschedulable and disruptable and not fully blocked by a PDB". A
// pod that is replaced before it leaves is not evicted; it needs a place until its replacement
// exists.
func (t *Translator) Movable(pod *corev1.Pod) bool {
	if t.index.hasHeir(pod) {
		return false
	}
	if t.surges(pod) {
		return podpolicy.Movable(pod, nil, t.options.Now)
	}
	return podpolicy.Movable(pod, t.index.budgetsOf(pod), t.options.Now)
}

// budgetsOf finds the budgets of a pod.
func (x *Index) budgetsOf(pod *corev1.Pod) []*policyv1.PodDisruptionBudget {
	return podpolicy.Covering(x.disruptions.in(namespaceOf(pod)), pod)
}
