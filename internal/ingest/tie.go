package ingest

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"tenon/core/snapshot"
	"tenon/internal/podpolicy"
)

// Tie is what binds a running pod to its node. It does not depend on the time: a snapshot has its
// own, and a pod that does not change is translated once.
func (t *Translator) Tie(pod *corev1.Pod) snapshot.Tie {
	protection := podpolicy.ProtectionOf(pod)
	active := podpolicy.Active(pod)
	out := snapshot.Tie{
		Returns: podpolicy.Reschedulable(pod),
		Asked:   active && !podpolicy.Stays(pod) && !podpolicy.Mirror(pod),
	}
	if active && (protection.Forever || protection.For > 0) {
		out.Protected = true
		out.Until, _ = protection.Until()
		out.Until = out.Until.UTC()
	}
	out.Unsafe = out.Protected && protection.Unsafe
	if out.Returns {
		out.Cost = int64(podpolicy.EvictionCost(pod))
	}
	if out.Asked && !t.surges(pod) { // a roll-out is not limited by budgets
		covering := t.index.budgetsOf(pod)
		if len(covering) == 1 && podpolicy.Ignores(covering[0], pod) {
			covering = nil // with several budgets none is skipped: the API server refuses to evict such pods
		}
		for _, b := range covering {
			out.Budgets = append(out.Budgets, b.Name)
		}
	}
	if t.options.ScaleDown != nil {
		out.Drain = t.drainFacts(pod)
	}
	return out
}

// Budgets are all PodDisruptionBudgets, by namespace and name.
func (t *Translator) Budgets() []snapshot.Budget {
	var out []snapshot.Budget
	for _, byName := range t.index.disruptions {
		for _, b := range byName {
			out = append(out, snapshot.Budget{
				Namespace: namespaceOf(b), Name: b.Name, Allowed: t.headroom(b), Never: podpolicy.Forbids(b),
			})
		}
	}
	slices.SortFunc(out, func(a, b snapshot.Budget) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}

// headroom is what the budget's status allows. A manifest has no status: there all its pods count
// as healthy.
func (t *Translator) headroom(b *policyv1.PodDisruptionBudget) int32 {
	if !t.options.Files || b.Status.ObservedGeneration != 0 || b.Status.ExpectedPods != 0 {
		return b.Status.DisruptionsAllowed
	}
	pods := t.covered(b)
	switch most, least := b.Spec.MaxUnavailable, b.Spec.MinAvailable; {
	case most != nil:
		n, err := intstr.GetScaledValueFromIntOrPercent(most, pods, true)
		if err != nil {
			return 0
		}
		return int32(max(n, 0))
	case least != nil:
		n, err := intstr.GetScaledValueFromIntOrPercent(least, pods, true)
		if err != nil {
			return 0
		}
		return int32(max(pods-n, 0))
	}
	return int32(max(pods-1, 0)) // minAvailable is 1 by default
}

// covered counts the pods that a budget selects.
func (t *Translator) covered(b *policyv1.PodDisruptionBudget) int {
	n := 0
	for _, pod := range t.given {
		if namespaceOf(pod) == namespaceOf(b) && pod.Spec.NodeName != "" && podpolicy.Active(pod) && podpolicy.Selects(b, pod) {
			n++
		}
	}
	return n
}
