package store

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	podKind    = corev1.SchemeGroupVersion.WithKind("Pod")
	budgetKind = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
)

// evict deletes a pod if its budget allows that, after it has counted the disruption in the budget.
func (s *Store) evict(key types.NamespacedName, e *policyv1.Eviction, try bool) error {
	if e.Name != "" && e.Name != key.Name {
		return apierrors.NewBadRequest("name in URL does not match name in Eviction object")
	}
	object, err := s.stored(s.kinds[podKind], key)
	if err != nil {
		return err
	}
	pod := object.(*corev1.Pod)
	options := ptr.Deref(e.DeleteOptions, metav1.DeleteOptions{})
	if try {
		options.DryRun = []string{metav1.DryRunAll}
	}
	if !disruptedAlready(pod) {
		if err := s.askBudgets(pod, len(options.DryRun) > 0); err != nil {
			return err
		}
	}
	return s.sendOff(pod, options)
}

// disruptedAlready reports whether a pod has ended, is ending, or has not started. No budget counts such a pod.
func disruptedAlready(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodSucceeded, corev1.PodFailed, corev1.PodPending:
		return true
	}
	return pod.DeletionTimestamp != nil
}

// askBudgets takes one disruption from the budget of a pod, if it has one.
func (s *Store) askBudgets(pod *corev1.Pod, try bool) error {
	budgets := s.budgetsOf(pod)
	if len(budgets) > 1 {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: 500,
			Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
		}}
	}
	if len(budgets) == 0 || !ready(pod) && freeWhenUnready(budgets[0]) {
		return nil
	}
	return s.useBudget(budgets[0], pod, try)
}

func (s *Store) budgetsOf(pod *corev1.Pod) []*policyv1.PodDisruptionBudget {
	var found []*policyv1.PodDisruptionBudget
	s.Each(budgetKind, func(object client.Object) bool {
		budget := object.(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && budget.Namespace == pod.Namespace && selector.Matches(labels.Set(pod.Labels)) {
			found = append(found, budget)
		}
		return true
	})
	return found
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// freeWhenUnready reports whether a pod that is not ready can be evicted without being counted.
func freeWhenUnready(b *policyv1.PodDisruptionBudget) bool {
	if ptr.Deref(b.Spec.UnhealthyPodEvictionPolicy, "") == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// tryAgain is after how many seconds a client should try again while the controller has not yet seen a budget.
const tryAgain = 10

func (s *Store) useBudget(old *policyv1.PodDisruptionBudget, pod *corev1.Pod, try bool) error {
	k := s.kinds[budgetKind]
	switch {
	case old.Status.ObservedGeneration < old.Generation:
		return tooMany(tryAgain, fmt.Sprintf("The disruption budget %s is still being processed by the server.", old.Name))
	case old.Status.DisruptionsAllowed < 0:
		return apierrors.NewForbidden(policyv1.Resource("poddisruptionbudget"), old.Name, fmt.Errorf("pdb disruptions allowed is negative"))
	case old.Status.DisruptionsAllowed == 0:
		return tooMany(0, whyNone(old))
	}
	next := old.DeepCopy()
	next.Status.DisruptionsAllowed--
	if next.Status.DisruptedPods == nil {
		next.Status.DisruptedPods = map[string]metav1.Time{}
	}
	next.Status.DisruptedPods[pod.Name] = s.now()
	if next.Status.DisruptionsAllowed == 0 {
		meta.SetStatusCondition(&next.Status.Conditions, metav1.Condition{
			Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, ObservedGeneration: next.Status.ObservedGeneration,
			Reason: policyv1.InsufficientPodsReason, LastTransitionTime: s.now(),
		})
	}
	_, err := s.replace(k, status, old, next, try)
	return err
}

func whyNone(b *policyv1.PodDisruptionBudget) string {
	if b.Status.CurrentHealthy <= b.Status.DesiredHealthy {
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy)
	}
	condition := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	if condition != nil && condition.Status == metav1.ConditionFalse && condition.Message != "" {
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", b.Name, condition.Reason, condition.Message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", b.Name)
}

func tooMany(seconds int, why string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", seconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: why})
	return err
}

// sendOff sets the pod's condition that says why it is deleted, and deletes it.
func (s *Store) sendOff(pod *corev1.Pod, options metav1.DeleteOptions) error {
	k := s.kinds[podKind]
	if err := k.broken(options.Preconditions, pod); err != nil {
		return err
	}
	if len(options.DryRun) > 0 {
		return nil
	}
	marked := version(pod).(*corev1.Pod)
	setCondition(marked, corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
		Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting", LastTransitionTime: s.now(),
	})
	stored, err := s.replace(k, status, pod, marked, false)
	if err != nil {
		return err
	}
	if p := options.Preconditions; p != nil && p.ResourceVersion != nil {
		options.Preconditions = &metav1.Preconditions{UID: p.UID, ResourceVersion: ptr.To(stored.GetResourceVersion())}
	}
	return s.remove(k, client.ObjectKeyFromObject(pod), options)
}

// setCondition adds or replaces a condition. The transition time stays as long as the status does.
func setCondition(pod *corev1.Pod, condition corev1.PodCondition) {
	pod.Status.Conditions = slices.Clone(pod.Status.Conditions)
	for i, c := range pod.Status.Conditions {
		if c.Type != condition.Type {
			continue
		}
		if c.Status == condition.Status {
			condition.LastTransitionTime = c.LastTransitionTime
		}
		pod.Status.Conditions[i] = condition
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, condition)
}

// bind assigns a pod to a node. It refuses a pod that has a node already.
func (s *Store) bind(key types.NamespacedName, b *corev1.Binding, try bool) error {
	k := s.kinds[podKind]
	object, err := s.stored(k, key)
	if err != nil {
		return err
	}
	pod := object.(*corev1.Pod)
	if b.UID != "" && b.UID != pod.UID {
		return k.wrongUID(pod.Name, b.UID, pod.UID)
	}
	bindings := *k
	bindings.Resource.Resource = "pods/binding"
	switch {
	case pod.DeletionTimestamp != nil:
		return bindings.conflict(pod.Name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name))
	case pod.Spec.NodeName != "":
		return bindings.conflict(pod.Name, fmt.Errorf("pod %s is already assigned to node %q", pod.Name, pod.Spec.NodeName))
	case len(pod.Spec.SchedulingGates) > 0:
		return bindings.conflict(pod.Name, fmt.Errorf("pod %s has non-empty .spec.schedulingGates", pod.Name))
	case try:
		return nil
	}
	next := version(pod).(*corev1.Pod)
	next.Spec.NodeName, next.Status.NominatedNodeName = b.Target.Name, ""
	setCondition(next, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: s.now()})
	s.commit(k, pod, next)
	return nil
}
