package cluster

import (
	"context"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/reconcile"
)

// forgotten is how long a budget expects an evicted pod to go. After that, a pod that still exists counts
// again.
const forgotten = 2 * time.Minute

// budgets keep the status of disruption budgets current.
func (c *Cluster) budgets() reconcile.Controller {
	return reconcile.Controller{
		Name: "budgets",
		Watches: []reconcile.Watch{
			{Kind: &policyv1.PodDisruptionBudget{}},
			{Kind: &corev1.Pod{}, Keys: c.budgetsOfPod},
		},
		Reconcile: c.countBudget,
	}
}

// rule is a budget with its parsed selector.
type rule struct {
	of     *metav1.LabelSelector
	reads  labels.Selector
	budget *policyv1.PodDisruptionBudget
}

// ruleOf parses a selector once.
func (c *Cluster) ruleOf(b *policyv1.PodDisruptionBudget) *rule {
	key := client.ObjectKeyFromObject(b)
	r := c.rules[key]
	// Versions of a budget share unchanged fields.
	if r == nil || r.of != b.Spec.Selector && !equality.Semantic.DeepEqual(r.of, b.Spec.Selector) {
		r = &rule{of: b.Spec.Selector, reads: reads(b.Spec.Selector)}
		c.rules[key] = r
	}
	r.budget = b
	return r
}

func reads(selector *metav1.LabelSelector) labels.Selector {
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return labels.Nothing()
	}
	return s
}

func (c *Cluster) budgetsOf(pod client.Object) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, object := range c.Client.Find(&policyv1.PodDisruptionBudget{}, "", "") {
		b := object.(*policyv1.PodDisruptionBudget)
		if b.Namespace == pod.GetNamespace() && c.ruleOf(b).reads.Matches(labels.Set(pod.GetLabels())) {
			out = append(out, b)
		}
	}
	return out
}

func (c *Cluster) budgetsOfPod(_ context.Context, pod client.Object) []reconcile.Key {
	var keys []reconcile.Key
	for _, b := range c.budgetsOf(pod) {
		keys = append(keys, client.ObjectKeyFromObject(b))
	}
	return keys
}

// allowsNone reports whether a budget allows no disruption of a pod.
func (c *Cluster) allowsNone(pod *corev1.Pod) bool {
	return slices.ContainsFunc(c.budgetsOf(pod), func(b *policyv1.PodDisruptionBudget) bool { return b.Status.DisruptionsAllowed <= 0 })
}

// countBudget is UpdateBudget with the data that the cluster has cached.
func (c *Cluster) countBudget(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var budget policyv1.PodDisruptionBudget
	if err := c.Client.Get(ctx, key, &budget, client.UnsafeDisableDeepCopy); err != nil {
		delete(c.rules, key)
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	index, value, all := "", "", false
	if s := budget.Spec.Selector; s != nil && len(s.MatchLabels) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(s.MatchLabels)))
		index, value = labeled, labelOf(key.Namespace, first, s.MatchLabels[first])
		all = len(s.MatchLabels) == 1 && len(s.MatchExpressions) == 0
	}
	pods := podsIn(c.Client.Find(&corev1.Pod{}, index, value))
	if !all {
		reads := c.ruleOf(&budget).reads
		pods = slices.DeleteFunc(pods, func(p *corev1.Pod) bool {
			return p.Namespace != key.Namespace || !reads.Matches(labels.Set(p.Labels))
		})
	}
	return saveBudget(ctx, c.Client, &budget, pods, c.Clock.Now())
}

// UpdateBudget counts the pods of one budget, and returns when to count again.
func UpdateBudget(ctx context.Context, api client.Client, key reconcile.Key, now time.Time) (reconcile.Result, error) {
	var budget policyv1.PodDisruptionBudget
	if err := api.Get(ctx, key, &budget); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	var list corev1.PodList
	if err := api.List(ctx, &list, client.InNamespace(key.Namespace)); err != nil {
		return reconcile.Never, err
	}
	s := reads(budget.Spec.Selector)
	var pods []*corev1.Pod
	for i := range list.Items {
		if s.Matches(labels.Set(list.Items[i].Labels)) {
			pods = append(pods, &list.Items[i])
		}
	}
	return saveBudget(ctx, api, &budget, pods, now)
}

func saveBudget(ctx context.Context, api client.Client, budget *policyv1.PodDisruptionBudget, pods []*corev1.Pod, now time.Time) (reconcile.Result, error) {
	next := budget.DeepCopy()
	again := count(next, pods, now, func(pod *corev1.Pod) (string, int32) { return scaleOf(ctx, api, pod) })
	if equality.Semantic.DeepEqual(budget.Status, next.Status) {
		return again, nil
	}
	return again, client.IgnoreNotFound(api.Status().Update(ctx, next))
}

// count writes the state of a budget's pods into its status.
func count(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod, now time.Time, scale func(*corev1.Pod) (string, int32)) reconcile.Result {
	again := trust(b, pods, now)
	expected, desired := wanted(b, pods, scale)
	healthy := int32(0)
	for _, pod := range pods {
		_, disrupted := b.Status.DisruptedPods[pod.Name]
		if pod.DeletionTimestamp == nil && !disrupted && Ready(pod) {
			healthy++
		}
	}
	allowed := max(healthy-desired, 0)
	if expected <= 0 {
		allowed = 0
	}
	b.Status.ObservedGeneration = b.Generation
	b.Status.ExpectedPods, b.Status.DesiredHealthy = expected, desired
	b.Status.CurrentHealthy, b.Status.DisruptionsAllowed = healthy, allowed
	condition := metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, ObservedGeneration: b.Generation,
		Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason, LastTransitionTime: metav1.NewTime(now),
	}
	if allowed == 0 {
		condition.Status, condition.Reason = metav1.ConditionFalse, policyv1.InsufficientPodsReason
	}
	meta.SetStatusCondition(&b.Status.Conditions, condition)
	return again
}

// trust keeps those of the evicted pods that are still expected to go.
func trust(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod, now time.Time) reconcile.Result {
	again := reconcile.Never
	kept := map[string]metav1.Time{}
	for _, pod := range pods {
		since, disrupted := b.Status.DisruptedPods[pod.Name]
		if !disrupted || pod.DeletionTimestamp != nil {
			continue
		}
		if left := since.Add(forgotten).Sub(now); left > 0 {
			kept[pod.Name] = since
			again = again.Sooner(reconcile.In(left))
		}
	}
	b.Status.DisruptedPods = kept
	if len(kept) == 0 {
		b.Status.DisruptedPods = nil
	}
	return again
}

// wanted returns how many pods there should be, and how many of them healthy. Percentages are of the scale
// of the pods' controllers.
func wanted(b *policyv1.PodDisruptionBudget, pods []*corev1.Pod, scale func(*corev1.Pod) (string, int32)) (expected, desired int32) {
	least, most := b.Spec.MinAvailable, b.Spec.MaxUnavailable
	switch {
	case most != nil:
		expected = scaled(pods, scale)
		n, err := intstr.GetScaledValueFromIntOrPercent(most, int(expected), true)
		if err != nil {
			return expected, expected
		}
		return expected, max(expected-int32(n), 0)
	case least != nil && least.Type == intstr.Int:
		return int32(len(pods)), least.IntVal
	case least != nil:
		expected = scaled(pods, scale)
		n, err := intstr.GetScaledValueFromIntOrPercent(least, int(expected), true)
		if err != nil {
			return expected, expected
		}
		return expected, int32(n)
	}
	return int32(len(pods)), 0
}

// scaled returns the sum of the scales of the pods' controllers, each once.
func scaled(pods []*corev1.Pod, scale func(*corev1.Pod) (string, int32)) int32 {
	seen, sum := map[string]bool{}, int32(0)
	owners := map[types.UID]bool{}
	for _, pod := range pods {
		if ref := metav1.GetControllerOfNoCopy(pod); ref == nil || owners[ref.UID] {
			continue
		} else {
			owners[ref.UID] = true
		}
		owner, n := scale(pod)
		if owner != "" && !seen[owner] {
			seen[owner] = true
			sum += n
		}
	}
	return sum
}

// scaleOf returns the controller of a pod and its scale.
func scaleOf(ctx context.Context, api client.Client, pod *corev1.Pod) (string, int32) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil {
		return "", 0
	}
	key := client.ObjectKey{Namespace: pod.Namespace, Name: owner.Name}
	switch owner.Kind {
	case "ReplicaSet":
		var set appsv1.ReplicaSet
		if api.Get(ctx, key, &set, client.UnsafeDisableDeepCopy) != nil {
			return "", 0
		}
		above := metav1.GetControllerOfNoCopy(&set)
		var deployment appsv1.Deployment
		if above != nil && api.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: above.Name}, &deployment, client.UnsafeDisableDeepCopy) == nil {
			return string(deployment.UID), ptr.Deref(deployment.Spec.Replicas, 1)
		}
		return string(set.UID), ptr.Deref(set.Spec.Replicas, 1)
	case "StatefulSet":
		var set appsv1.StatefulSet
		if api.Get(ctx, key, &set, client.UnsafeDisableDeepCopy) != nil {
			return "", 0
		}
		return string(set.UID), ptr.Deref(set.Spec.Replicas, 1)
	}
	return "", 0
}
