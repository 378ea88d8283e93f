// Package hydration gives claims and their nodes the label with their class's name, by
// which nodes are known as ours. Claims made by hand and objects of older versions are
// without it. It changes nothing else.
package hydration

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/translate"
)

type hydration struct {
	kit   reconcile.Kit
	about cloud.Description
}

// New makes the two controllers, for claims and for nodes.
func New(kit reconcile.Kit) []reconcile.Controller {
	h := &hydration{kit, kit.Cloud.Describe()}
	many := reconcile.Workers{Min: 10, Max: 1000}
	retry := reconcile.Backoff{First: time.Second, Longest: time.Minute}
	return []reconcile.Controller{{
		Name:      "nodeclaim.hydration",
		Watches:   []reconcile.Watch{{Kind: &karpenterv1.NodeClaim{}, Matters: h.claimLacks}},
		Workers:   many,
		Retry:     retry,
		Reconcile: h.claim,
	}, {
		Name: "node.hydration",
		Watches: []reconcile.Watch{
			{Kind: &corev1.Node{}, Matters: h.nodeLacks},
			{Kind: &karpenterv1.NodeClaim{}, Keys: h.nodesOf, Matters: learned},
		},
		Workers:   many,
		Retry:     retry,
		Reconcile: h.node,
	}}
}

// claimLacks ignores the many changes of claims that have their label.
func (h *hydration) claimLacks(_, changed client.Object) bool {
	claim, is := changed.(*karpenterv1.NodeClaim)
	return is && h.lacks(claim, claim.Labels)
}

func (h *hydration) nodeLacks(_, changed client.Object) bool {
	node, is := changed.(*corev1.Node)
	if !is || node.Spec.ProviderID == "" {
		return false
	}
	for _, kind := range h.about.Classes {
		if _, has := node.Labels[karpenterv1.NodeClassLabel(kind.Group, kind.Kind)]; has {
			return false
		}
	}
	return true
}

// learned tells claims that have just got their provider ID, or are seen for the first time.
func learned(old, changed client.Object) bool {
	claim, is := changed.(*karpenterv1.NodeClaim)
	if !is || claim.Status.ProviderID == "" {
		return false
	}
	before, was := old.(*karpenterv1.NodeClaim)
	return !was || before.Status.ProviderID == ""
}

func (h *hydration) nodesOf(ctx context.Context, object client.Object) []reconcile.Key {
	nodes, err := lookup.NodesOfClaim(ctx, h.kit.Client, object.(*karpenterv1.NodeClaim))
	if err != nil {
		reconcile.Log(ctx).Error(err, "finding nodes of a claim", "NodeClaim", object.GetName())
		return nil
	}
	var keys []reconcile.Key
	for _, node := range nodes {
		keys = append(keys, client.ObjectKeyFromObject(node))
	}
	return keys
}

// lacks reports whether labels are without the class of a claim of ours.
func (h *hydration) lacks(claim *karpenterv1.NodeClaim, labels map[string]string) bool {
	key, class := translate.ClassLabel(claim)
	return h.about.Supports(translate.ClassOf(claim)) && labels[key] != class
}

func (h *hydration) claim(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	claim := &karpenterv1.NodeClaim{}
	if err := h.kit.Client.Get(ctx, key, claim); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !h.lacks(claim, claim.Labels) {
		return reconcile.Never, nil
	}
	return reconcile.Never, h.label(ctx, claim, claim)
}

func (h *hydration) node(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := h.kit.Client.Get(ctx, key, node); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	claim, err := lookup.ClaimOf(ctx, h.kit.Client, node)
	if err != nil || claim == nil || !h.lacks(claim, node.Labels) {
		return reconcile.Never, err
	}
	return reconcile.Never, h.label(ctx, node, claim)
}

// label writes one label, which leaves the writes of others alone.
func (h *hydration) label(ctx context.Context, object client.Object, claim *karpenterv1.NodeClaim) error {
	before := object.DeepCopyObject().(client.Object)
	labels := maps.Clone(object.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	key, class := translate.ClassLabel(claim)
	labels[key] = class
	object.SetLabels(labels)
	if err := patch.Merge(ctx, h.kit, before, object); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label %s with its class: %w", before.GetName(), err)
	}
	return nil
}
