// Package consistency compares initialized nodes with what their claims were promised, and tells
// people when a machine is much smaller than it should be. It repairs nothing. Of a node that still
// starts it says nothing: kubelets report their resources one after the other.
package consistency

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/order"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
	"tenon/internal/translate"
)

const (
	// period is between two looks at a claim.
	period = 10 * time.Minute
	// enough is the part of what was promised that is taken for all of it: kernels and
	// hypervisors keep some memory for themselves, and how much is not published.
	enough = 0.9
)

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
	found := shortages(claim, nodes[0])
	for _, text := range found {
		c.kit.Events.Publish(telemetry.Warning(claim, "FailedConsistencyCheck", text, string(claim.UID), text))
	}
	again, err := c.write(ctx, claim, len(found) == 0)
	return again.Sooner(reconcile.In(period)), err
}

// shortages are what a node has too little of, in words, sorted by resource.
// Only what was requested matters, and only where the provider has said how much to expect.
func shortages(claim *karpenterv1.NodeClaim, node *corev1.Node) []string {
	var out []string
	requests := claim.Spec.Resources.Requests
	for _, name := range order.Keys(requests) {
		asked, expected, found := requests[name], claim.Status.Capacity[name], node.Status.Capacity[name]
		if asked.IsZero() || expected.IsZero() {
			continue
		}
		if part := found.AsApproximateFloat64() / expected.AsApproximateFloat64(); part < enough {
			out = append(out, fmt.Sprintf("expected %s of resource %s, but found %s (%0.1f%% of expected)",
				expected.String(), name, found.String(), part*100))
		}
	}
	return out
}

func (c *consistency) write(ctx context.Context, claim *karpenterv1.NodeClaim, consistent bool) (reconcile.Result, error) {
	before := claim.DeepCopy()
	conditions := claim.Conditions(c.kit.Clock.Now())
	if consistent {
		conditions.SetTrue(karpenterv1.ConditionConsistentStateFound)
	} else {
		conditions.SetFalse(karpenterv1.ConditionConsistentStateFound, "ConsistencyCheckFailed", "Consistency Check Failed")
	}
	claim.Status.Conditions = conditions.List()
	return patch.Status(ctx, c.kit, before, claim)
}
