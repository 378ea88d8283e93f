package lifecycle

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/internal/mark"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

const (
	nodeNotFound        = "NodeNotFound"
	nodeNotFoundMessage = "Node not registered with cluster"
)

// uninitialized is why a registered node is not initialized; the zero value is none.
type uninitialized struct{ reason, message string }

// findObstacle looks whether a node has become what its claim asked for. Drivers for
// dynamic resources are not waited for: pods that need them are not placed on claims.
func findObstacle(node *corev1.Node, claim *karpenterv1.NodeClaim) uninitialized {
	if !ready(node) {
		return uninitialized{"NodeNotReady", "Node status is NotReady"}
	}
	for _, taint := range claim.Spec.StartupTaints {
		if tainted(node, taint) {
			return uninitialized{"StartupTaintsExist", fmt.Sprintf("StartupTaint %q still exists", taint.ToString())}
		}
	}
	for _, taint := range node.Spec.Taints {
		if karpenterv1.IsEphemeral(taint) {
			return uninitialized{"KnownEphemeralTaintsExist", fmt.Sprintf("KnownEphemeralTaint %q still exists", taint.ToString())}
		}
	}
	requests := claim.Spec.Resources.Requests
	for _, name := range order.Keys(requests) {
		asked, given := requests[name], node.Status.Allocatable[name]
		if !asked.IsZero() && given.IsZero() {
			return uninitialized{"ResourceNotRegistered", fmt.Sprintf("Resource %q was requested but not registered", name)}
		}
	}
	return uninitialized{}
}

func ready(node *corev1.Node) bool {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// initialize marks the node of a registered claim when nothing stands in the way.
func (l *lifecycle) initialize(ctx context.Context, claim *karpenterv1.NodeClaim, conditions *condition.Set, nodes []*corev1.Node) (reconcile.Result, error) {
	if len(nodes) != 1 {
		conditions.SetUnknown(karpenterv1.ConditionInitialized, nodeNotFound, nodeNotFoundMessage)
		return reconcile.Never, nil
	}
	if o := findObstacle(nodes[0], claim); o != (uninitialized{}) {
		// The write that says Registered tells the obstacle as well; later ones would be for it alone.
		registered := meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionRegistered)
		if left := untold - l.joined(nodes[0]); registered && left > 0 {
			return reconcile.In(left), nil
		}
		conditions.SetUnknown(karpenterv1.ConditionInitialized, o.reason, o.message)
		return reconcile.Never, nil
	}
	node := nodes[0].DeepCopy()
	node.Labels = merged(node.Labels, map[string]string{karpenterv1.LabelInitialized: "true"})
	if nodes[0].Labels[karpenterv1.LabelInitialized] != "true" {
		if err := patch.Merge(ctx, l.kit, nodes[0], node); err != nil {
			return reconcile.Never, fmt.Errorf("mark node %s as initialized: %w", node.Name, err)
		}
	}
	conditions.SetTrue(karpenterv1.ConditionInitialized)
	mark.Consistent(conditions, claim, node)
	return reconcile.Never, l.markQuiet(ctx, claim, conditions)
}

// markQuiet says of a claim at once what its pool's window allows from the first moment, instead of a write of its own.
func (l *lifecycle) markQuiet(ctx context.Context, claim *karpenterv1.NodeClaim, conditions *condition.Set) error {
	pool := &karpenterv1.NodePool{}
	if err := l.kit.Client.Get(ctx, client.ObjectKey{Name: claim.Labels[karpenterv1.LabelNodePool]}, pool); err != nil {
		return client.IgnoreNotFound(err)
	}
	mark.Quiet(conditions, pool, claim, l.kit.Clock.Now())
	return nil
}

// became reports whether a condition has just become True.
func became(name string, was, now condition.Set) bool {
	return !was.HasStatus(name, metav1.ConditionTrue) && now.HasStatus(name, metav1.ConditionTrue)
}
