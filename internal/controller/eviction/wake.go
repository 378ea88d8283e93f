package eviction

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/departure"
	"tenon/internal/drain"
	"tenon/internal/lookup"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
	"tenon/internal/surge"
)

// This file says which pods are examined again after which events. A missed event costs time, never
// correctness: a pod that a node waits for is examined every longestWait. So read errors are only logged.

// podMatters passes changes that affect a drain: a pod comes to a node, is being deleted, ends,
// disappears, or has other annotations.
func podMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return true
	}
	was, is := old.(*corev1.Pod), changed.(*corev1.Pod)
	return was.Spec.NodeName != is.Spec.NodeName ||
		podpolicy.Active(was) != podpolicy.Active(is) || podpolicy.Terminal(was) != podpolicy.Terminal(is) ||
		was.Annotations[karpenterv1.AnnotationDoNotDisrupt] != is.Annotations[karpenterv1.AnnotationDoNotDisrupt] ||
		surge.Wanted(was) != surge.Wanted(is)
}

// ofPod is the pod itself and, if its group has gone, the pods whose turn has come by that.
func (q *queue) ofPod(ctx context.Context, object client.Object) []reconcile.Key {
	pod := object.(*corev1.Pod)
	node, err := q.leaving(ctx, pod.Spec.NodeName)
	if err != nil || node == nil {
		q.note(ctx, err)
		return nil
	}
	keys := []reconcile.Key{client.ObjectKeyFromObject(pod)}
	if podpolicy.Active(pod) && !isGone(ctx, q.Client, pod) {
		return keys
	}
	if s, d := q.decide(ctx, node); s.GroupOf(pod) < d.Turn {
		for _, step := range d.Steps {
			keys = append(keys, client.ObjectKeyFromObject(step.Pod))
		}
	}
	return keys
}

// isGone reports whether a pod that was last seen active has been taken away since.
func isGone(ctx context.Context, r client.Reader, pod *corev1.Pod) bool {
	found := &corev1.Pod{}
	err := r.Get(ctx, client.ObjectKeyFromObject(pod), found)
	return client.IgnoreNotFound(err) == nil && (err != nil || found.UID != pod.UID)
}

// nodeMatters lets through nodes that begin to drain.
func (q *queue) nodeMatters(old, changed client.Object) bool {
	return changed != nil && q.drains(changed.(*corev1.Node)) && (old == nil || !q.drains(old.(*corev1.Node)))
}

// ofNode is every pod for which the node waits, if it drains: a watch also maps the node as it was before that.
func (q *queue) ofNode(ctx context.Context, object client.Object) []reconcile.Key {
	node := object.(*corev1.Node)
	if !q.drains(node) {
		return nil
	}
	var keys []reconcile.Key
	_, d := q.decide(ctx, node)
	for _, pod := range d.Waiting {
		keys = append(keys, client.ObjectKeyFromObject(pod))
	}
	return keys
}

func (q *queue) decide(ctx context.Context, node *corev1.Node) (drain.State, drain.Decision) {
	leave, err := departure.Read(ctx, q.Client, node, q.Clock.Now())
	if err != nil {
		q.note(ctx, err)
		return drain.State{}, drain.Decision{}
	}
	leave.Heed(q.Settings.GroupDrain)
	return leave.State, drain.Decide(leave.State)
}

// claimMatters lets through new deadlines.
func claimMatters(old, changed client.Object) bool {
	if changed == nil {
		return false
	}
	const deadline = karpenterv1.AnnotationTerminationTimestamp
	is := changed.GetAnnotations()[deadline]
	return is != "" && (old == nil || old.GetAnnotations()[deadline] != is)
}

func (q *queue) ofClaim(ctx context.Context, object client.Object) []reconcile.Key {
	nodes, err := lookup.NodesOfClaim(ctx, q.Client, object.(*karpenterv1.NodeClaim))
	q.note(ctx, err)
	var keys []reconcile.Key
	for _, node := range nodes {
		keys = append(keys, q.ofNode(ctx, node)...)
	}
	return keys
}

// budgetMatters lets through budgets that may let go of more pods than before.
func budgetMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed == nil
	}
	was, is := old.(*policyv1.PodDisruptionBudget), changed.(*policyv1.PodDisruptionBudget)
	return is.Status.DisruptionsAllowed > was.Status.DisruptionsAllowed || is.Generation != was.Generation
}

// ofBudget is what the drains in progress want to evict of the budget's namespace.
func (q *queue) ofBudget(ctx context.Context, object client.Object) []reconcile.Key {
	budget := object.(*policyv1.PodDisruptionBudget)
	nodes, err := lookup.NodesLeaving(ctx, q.Client)
	q.note(ctx, err)
	var keys []reconcile.Key
	for _, node := range nodes {
		if !q.drains(node) {
			continue
		}
		_, d := q.decide(ctx, node)
		for _, step := range d.Steps {
			if step.Pod.Namespace == budget.Namespace && podpolicy.Selects(budget, step.Pod) {
				keys = append(keys, client.ObjectKeyFromObject(step.Pod))
			}
		}
	}
	return keys
}

func (q *queue) note(ctx context.Context, err error) {
	if err != nil {
		reconcile.Log(ctx).Error(err, "looking for the pods of an event")
	}
}
