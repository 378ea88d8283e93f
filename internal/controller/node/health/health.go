// Package health replaces nodes that are ill: it deletes the claim of a node that has had
// an unhealthy condition for longer than the provider tolerates. Its pods get no time, as
// it is not known whether they still run. A breaker keeps it from taking a pool down because
// of something that is not the nodes' fault.
//
// It must not drain, launch or judge machines by anything but the provider's policies.
package health

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/departure"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
)

// blockedAgain is how long to wait before asking the breaker again.
const blockedAgain = 5 * time.Minute

type controller struct {
	reconcile.Kit
	description cloud.Description
}

// New makes the controller. There is none when the feature is off, or when the provider
// does not say what an illness is.
func New(kit reconcile.Kit) []reconcile.Controller {
	c := &controller{Kit: kit, description: kit.Cloud.Describe()}
	if !kit.Settings.FeatureGates.NodeRepair || len(c.description.Repairs) == 0 {
		return nil
	}
	return []reconcile.Controller{{
		Name:      "node.health",
		Watches:   []reconcile.Watch{{Kind: &corev1.Node{}, Matters: c.matters}},
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Reconcile: c.reconcile,
	}}
}

// matters lets through nodes of ours whose illness began, ended or changed. Heartbeats,
// which are most changes of a node, do not.
func (c *controller) matters(old, changed client.Object) bool {
	if changed == nil || !departure.Managed(c.description, changed.(*corev1.Node)) {
		return false
	}
	is, ill := diagnose(c.description.Repairs, changed.(*corev1.Node))
	if old == nil {
		return ill
	}
	was, _ := diagnose(c.description.Repairs, old.(*corev1.Node))
	return ill && is != was
}

func (c *controller) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	// 1. Gather and decide: is it ill, and has it been for too long?
	node, claim, err := c.gather(ctx, c.Client, key)
	if err != nil || claim == nil {
		return reconcile.Never, err
	}
	illness, ill := diagnose(c.description.Repairs, node)
	if !ill {
		return reconcile.Never, nil
	}
	if left := illness.Over.Sub(c.Clock.Now()); left > 0 {
		return reconcile.In(left), nil
	}
	// 2. Is it one of few?
	nodeGroup, err := c.nodeGroup(ctx, claim)
	if err != nil {
		return reconcile.Never, err
	}
	if !nodeGroup.mayLose() {
		c.Events.Publish(blocked(nodeGroup, node, claim)...)
		return reconcile.In(blockedAgain), nil
	}
	// 3. Is it true, or has the node recovered since our cache saw it?
	fresh, _, err := c.gather(ctx, c.Uncached(reconcile.BeforeRemoval), key)
	if err != nil || fresh == nil {
		return reconcile.Never, err
	}
	if now, still := diagnose(c.description.Repairs, fresh); !still || now.Over.After(c.Clock.Now()) {
		return reconcile.Never, nil // the change that we have not seen yet wakes us
	}
	return reconcile.Never, c.replace(ctx, claim, illness)
}

// gather reads a node of ours through r, and its claim, which only caches can find. Both
// are nil if there is nothing to repair: the node is not ours, or leaves already.
func (c *controller) gather(ctx context.Context, r client.Reader, key reconcile.Key) (*corev1.Node, *karpenterv1.NodeClaim, error) {
	node := &corev1.Node{}
	if err := r.Get(ctx, key, node); err != nil {
		return nil, nil, client.IgnoreNotFound(err)
	}
	if node.DeletionTimestamp != nil || !departure.Managed(c.description, node) {
		return nil, nil, nil
	}
	claim, err := lookup.ClaimOf(ctx, c.Client, node)
	if err != nil || claim == nil || claim.DeletionTimestamp != nil {
		return nil, nil, err
	}
	return node, claim, nil
}

// nodeGroup reads the nodes among which the ill one is counted: its pool's, or all of the
// cluster if it has none.
func (c *controller) nodeGroup(ctx context.Context, claim *karpenterv1.NodeClaim) (nodeGroup, error) {
	var w nodeGroup
	options := []client.ListOption{client.UnsafeDisableDeepCopy}
	if name := claim.Labels[karpenterv1.LabelNodePool]; name != "" {
		options = append(options, client.MatchingLabels{karpenterv1.LabelNodePool: name})
		w.pool = &karpenterv1.NodePool{}
		w.pool.Name = name
		if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, w.pool); client.IgnoreNotFound(err) != nil {
			return w, fmt.Errorf("get pool %s: %w", name, err)
		}
	}
	var list corev1.NodeList
	if err := c.Client.List(ctx, &list, options...); err != nil {
		return w, fmt.Errorf("list the nodes beside that of claim %s: %w", claim.Name, err)
	}
	w.nodes = len(list.Items)
	for i := range list.Items {
		if _, ill := diagnose(c.description.Repairs, &list.Items[i]); ill {
			w.ill++
		}
	}
	return w, nil
}

// replace deletes the claim, with no time for its pods.
func (c *controller) replace(ctx context.Context, claim *karpenterv1.NodeClaim, illness illness) error {
	changed := claim.DeepCopy()
	if endGracePeriod(changed, c.Clock.Now()) {
		err := patch.IfUnchanged(ctx, c.Kit, claim, changed)
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("set the termination time of claim %s: %w", claim.Name, err)
		}
	}
	deleted, err := removal.Delete(ctx, c.Kit, changed, removal.Unhealthy)
	if err != nil || !deleted {
		return err
	}
	c.Metrics.NodeclaimsUnhealthyDisruptedTotal.WithLabelValues(snakeCase(illness.Condition),
		claim.Labels[karpenterv1.LabelNodePool], claim.Labels[karpenterv1.LabelCapacityType], claim.Status.ImageID).Inc()
	reconcile.Log(ctx).Info("deleting unhealthy nodeclaim", "NodeClaim", claim.Name, "condition", illness.Condition, "reason", string(removal.Unhealthy))
	return nil
}
