// Package consistency compares initialized nodes with what their claims were promised, and tells
// people when a machine is much smaller than it should be. It repairs nothing. Of a node that still
// starts it says nothing: kubelets report their resources one after the other.
package consistency

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/lookup"
	"tenon/internal/mark"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
	"tenon/internal/translate"
)

// period is between two looks at a claim.
const period = 10 * time.Minute

type consistency struct {
	kit   reconcile.Kit
	about cloud.Description
}

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	c := &consistency{kit, kit.Cloud.Describe()}
	return reconcile.Controller{
		Name: "nodeclaim.consistency",
		Watches: []reconcile.Watch{
			{Kind: &karpenterv1.NodeClaim{}, Matters: claimMatters},
			{Kind: &corev1.Node{}, Keys: c.claimsOf, Matters: nodeMatters},
		},
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Yields:    true,
		Reconcile: c.reconcile,
	}
}

// claimMatters lets through what decides whether there is something to compare.
func claimMatters(old, changed client.Object) bool {
	before, was := old.(*karpenterv1.NodeClaim)
	claim, is := changed.(*karpenterv1.NodeClaim)
	return is && (!was || before.Status.ProviderID != claim.Status.ProviderID || initialized(before) != initialized(claim))
}

// nodeMatters lets through nodes that join and nodes that turn out larger or smaller.
func nodeMatters(old, changed client.Object) bool {
	before, was := old.(*corev1.Node)
	node, is := changed.(*corev1.Node)
	return is && (!was || before.Spec.ProviderID != node.Spec.ProviderID ||
		!equality.Semantic.DeepEqual(before.Status.Capacity, node.Status.Capacity))
}

func (c *consistency) claimsOf(ctx context.Context, object client.Object) []reconcile.Key {
	claims, err := lookup.ClaimsOf(ctx, c.kit.Client, object.(*corev1.Node).Spec.ProviderID)
	if err != nil {
		reconcile.Log(ctx).Error(err, "finding claims of a node", "Node", object.GetName())
		return nil
	}
	var keys []reconcile.Key
	for _, claim := range claims {
		keys = append(keys, client.ObjectKeyFromObject(claim))
	}
	return keys
}

func initialized(claim *karpenterv1.NodeClaim) bool {
	return meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInitialized)
}

func (c *consistency) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	claim := &karpenterv1.NodeClaim{}
	if err := c.kit.Client.Get(ctx, key, claim); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if claim.DeletionTimestamp != nil || claim.Status.ProviderID == "" || !initialized(claim) || !c.about.Supports(translate.ClassOf(claim)) {
		return reconcile.Never, nil
	}
	nodes, err := lookup.NodesOfClaim(ctx, c.kit.Client, claim)
	if err != nil || len(nodes) != 1 {
		return reconcile.Never, err
	}
	for _, text := range mark.Shortages(claim, nodes[0]) {
		c.kit.Events.Publish(telemetry.Warning(claim, "FailedConsistencyCheck", text, string(claim.UID), text))
	}
	again, err := c.write(ctx, claim, nodes[0])
	return again.Sooner(reconcile.In(period)), err
}

func (c *consistency) write(ctx context.Context, claim *karpenterv1.NodeClaim, node *corev1.Node) (reconcile.Result, error) {
	before := claim.DeepCopy()
	conditions := claim.Conditions(c.kit.Clock.Now())
	mark.Consistent(&conditions, claim, node)
	claim.Status.Conditions = conditions.List()
	return patch.Status(ctx, c.kit, before, claim)
}
