package garbagecollection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/parallel"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/translate"
)

// nodelessFor is how long a claim in use may be without a node. One that is deleted in the
// usual way takes its claim along; one whose finalizer was removed leaves a machine behind that
// is paid for, that no pod can come to, and that will not join again by itself.
const nodelessFor = 5 * time.Minute

// collectNodes looks after machines and nodes of which only one is left.
func (g *garbage) collectNodes(ctx context.Context, claims []karpenterv1.NodeClaim, instances []cloud.Instance, now time.Time) error {
	var nodes corev1.NodeList
	if err := g.kit.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	pools, err := g.pools(ctx)
	if err != nil {
		return err
	}
	var found []*karpenterv1.NodeClaim
	found, g.alone = nodeless(claims, nodes.Items, g.alone, now, g.about)
	return errors.Join(
		parallel.Try(g.workers, instanceless(nodes.Items, pools, claims, instances, now, g.about), func(node *corev1.Node) error {
			return g.collectInstanceless(ctx, node)
		}),
		parallel.Try(g.workers, found, func(claim *karpenterv1.NodeClaim) error { return g.collectNodeless(ctx, claim) }),
	)
}

// pools are the names of the pools whose machines this provider makes.
func (g *garbage) pools(ctx context.Context) (map[string]bool, error) {
	var list karpenterv1.NodePoolList
	if err := g.kit.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pools: %w", err)
	}
	ours := map[string]bool{}
	for i := range list.Items {
		if g.about.Supports(class.Of(&list.Items[i])) {
			ours[list.Items[i].Name] = true
		}
	}
	return ours, nil
}

// instanceless are nodes that joined and were never taken in, whose machine is gone and which no
// claim knows of: it was interrupted before its purchase was written down.
// A cloud's own controller deletes such nodes where there is one. Only nodes that say that they are of one
// of our pools count: of another's machine the cloud knows nothing, which does not mean that it is gone.
func instanceless(nodes []corev1.Node, pools map[string]bool, claims []karpenterv1.NodeClaim, shown []cloud.Instance, now time.Time, about cloud.Description) []*corev1.Node {
	known := map[string]bool{}
	for i := range claims {
		known[claims[i].Status.ProviderID] = true
	}
	for _, i := range shown {
		known[i.ProviderID] = known[i.ProviderID] || i.State != cloud.Terminating
	}
	unregistered := karpenterv1.TaintUnregistered()
	var out []*corev1.Node
	for n := range nodes {
		node := &nodes[n]
		joined := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&unregistered) })
		old := now.Sub(node.CreationTimestamp.Time) >= about.VisibleWithin
		if pools[node.Labels[karpenterv1.LabelNodePool]] && joined && old && node.DeletionTimestamp == nil && node.Spec.ProviderID != "" && !known[node.Spec.ProviderID] && !anyReady([]*corev1.Node{node}) {
			out = append(out, node)
		}
	}
	return out
}

// collectInstanceless deletes a node unless its machine can be found after all.
func (g *garbage) collectInstanceless(ctx context.Context, node *corev1.Node) error {
	instance, err := g.kit.Cloud.Get(ctx, node.Spec.ProviderID)
	switch {
	case err == nil && instance.State != cloud.Terminating:
		return nil
	case err != nil && !cloud.IsNotFound(err):
		return fmt.Errorf("look for instance %s of node %s: %w", node.Spec.ProviderID, node.Name, err)
	}
	if err := patch.Delete(ctx, g.kit, node); err != nil {
		return fmt.Errorf("delete node %s, whose instance is gone: %w", node.Name, err)
	}
	reconcile.Log(ctx).Info("garbage collected node with no instance", "Node", node.Name, "provider-id", node.Spec.ProviderID)
	return nil
}

// nodeless are the registered claims that have been without a node for too long, with those that
// are without one, and since when: as was known already, or from now on.
func nodeless(claims []karpenterv1.NodeClaim, nodes []corev1.Node, known map[types.UID]time.Time, now time.Time, about cloud.Description) (out []*karpenterv1.NodeClaim, since map[types.UID]time.Time) {
	has := map[string]bool{}
	for i := range nodes {
		has[nodes[i].Spec.ProviderID] = true
	}
	since = map[types.UID]time.Time{}
	for n := range claims {
		claim := &claims[n]
		if claim.DeletionTimestamp != nil || !meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionRegistered) || has[claim.Status.ProviderID] || !about.Supports(translate.ClassOf(claim)) {
			continue
		}
		first, seen := known[claim.UID]
		if !seen {
			first = now
		}
		if since[claim.UID] = first; now.Sub(first) >= nodelessFor {
			out = append(out, claim)
		}
	}
	return out, since
}

// collectNodeless deletes a claim, with its machine, unless the API server knows its node.
func (g *garbage) collectNodeless(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	err := g.kit.Uncached(reconcile.BeforeRemoval).Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, &corev1.Node{})
	switch {
	case err == nil:
		return nil // the cache is behind
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("look for node %s of claim %s: %w", claim.Status.NodeName, claim.Name, err)
	}
	return g.remove(ctx, claim, "garbage collecting nodeclaim whose node is gone")
}
