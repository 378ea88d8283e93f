package termination

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/snapshot"
	"tenon/internal/departure"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// deleteClaim makes the claim of a node go with it, as after `kubectl delete node`.
func (c *controller) deleteClaim(ctx context.Context, node *corev1.Node) error {
	claim, err := lookup.ClaimOf(ctx, c.Client, node)
	if err != nil || claim == nil || claim.DeletionTimestamp != nil {
		return err
	}
	if err := patch.Delete(ctx, c.Kit, claim); err != nil {
		return fmt.Errorf("delete claim %s of node %s: %w", claim.Name, node.Name, err)
	}
	return nil
}

// instanceGone reports whether the machine of a node that is not ready has ended. A look at
// the cloud may be behind, and miss a machine that is very new: then the answer is not known.
func (c *controller) instanceGone(ctx context.Context, node *corev1.Node) (bool, error) {
	if isReady(node) {
		return false, nil
	}
	if departure.Group(node) != "" {
		return c.memberGone(ctx, node)
	}
	_, err := c.Cloud.Get(ctx, node.Spec.ProviderID)
	if cloud.IsNotFound(err) {
		visible := node.CreationTimestamp.Add(c.description.VisibleWithin)
		return !c.Clock.Now().Before(visible), nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the instance of node %s: %w", node.Name, err)
	}
	return false, nil
}

// poolOf is the pool of a node, or that of its group, as metrics name it.
func poolOf(node *corev1.Node) string {
	if group := departure.Group(node); group != "" {
		return snapshot.GroupPool(group)
	}
	return node.Labels[karpenterv1.LabelNodePool]
}

func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// close keeps new pods off a node, and new connections.
func (c *controller) close(ctx context.Context, node *corev1.Node) error {
	if departure.Closed(node) && node.Labels[karpenterv1.LabelExcludeFromBalancers] != "" {
		return nil
	}
	taint := karpenterv1.TaintDisrupted()
	changed := node.DeepCopy()
	changed.Spec.Taints = append(slices.DeleteFunc(changed.Spec.Taints, func(t corev1.Taint) bool { return t.Key == taint.Key }), taint)
	if changed.Labels == nil {
		changed.Labels = map[string]string{}
	}
	changed.Labels[karpenterv1.LabelExcludeFromBalancers] = karpenterv1.ExcludedBy
	if err := patch.IfUnchanged(ctx, c.Kit, node, changed); err != nil {
		return fmt.Errorf("taint node %s: %w", node.Name, err)
	}
	reconcile.Log(ctx).Info("tainted node", "taint.Key", taint.Key, "taint.Value", taint.Value, "taint.Effect", string(taint.Effect))
	changed.DeepCopyInto(node) // what follows in this pass writes on top of it
	return nil
}

// release lets a node go. The lock makes sure that it is counted once: a process that sees an old
// state of the node writes nothing.
func (c *controller) release(ctx context.Context, node *corev1.Node) error {
	changed := node.DeepCopy()
	controllerutil.RemoveFinalizer(changed, karpenterv1.FinalizerTermination)
	if err := patch.IfUnchanged(ctx, c.Kit, node, changed); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil
		}
		return fmt.Errorf("remove the finalizer of node %s: %w", node.Name, err)
	}
	pool, zone := poolOf(node), node.Labels[corev1.LabelTopologyZone]
	now := c.Clock.Now()
	c.Metrics.NodesTerminatedTotal.WithLabelValues(pool, zone).Inc()
	c.Metrics.NodesTerminationDurationSeconds.WithLabelValues(pool).Observe(now.Sub(node.DeletionTimestamp.Time).Seconds())
	c.Metrics.NodesLifetimeDurationSeconds.WithLabelValues(pool).Observe(now.Sub(node.CreationTimestamp.Time).Seconds())
	reconcile.Log(ctx).Info("deleted node")
	return nil
}
