// Package tagging puts the names of a node and its claim on their instance, for people who
// look at the cloud. The tags by which we find instances ourselves were there from the
// purchase on.
package tagging

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/aws/machine"
	"tenon/internal/amend"
	"tenon/internal/reconcile"
)

// Labeller puts names on an instance, if it has none. NotFound is for one that is gone.
type Labeller interface {
	Label(ctx context.Context, providerID, node, claim string) error
}

type controller struct {
	kit  reconcile.Kit
	tags Labeller
}

// New makes the controller.
func New(kit reconcile.Kit, tags Labeller) reconcile.Controller {
	c := controller{kit, tags}
	return reconcile.Controller{
		Name:      "nodeclaim.tagging",
		Watches:   []reconcile.Watch{{Kind: &karpenterv1.NodeClaim{}, Matters: matters}},
		Workers:   reconcile.Workers{Min: 50, Max: 500}, // who asks at the same time shares calls
		Reconcile: c.reconcile,
	}
}

func matters(_, changed client.Object) bool {
	claim, is := changed.(*karpenterv1.NodeClaim)
	return is && claim != nil && taggable(claim)
}

// taggable: its node has joined, and the names are not there yet.
func taggable(claim *karpenterv1.NodeClaim) bool {
	done := claim.Annotations[awsv1.AnnotationTagged] == "true" && claim.Annotations[awsv1.AnnotationClusterNameTagged] == "true"
	return !done && claim.Status.NodeName != "" && claim.DeletionTimestamp == nil
}

func (c controller) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var claim karpenterv1.NodeClaim
	if err := c.kit.Client.Get(ctx, key, &claim); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !taggable(&claim) {
		return reconcile.Never, nil
	}
	if _, _, ok := machine.Parse(claim.Status.ProviderID); !ok {
		reconcile.Log(ctx).Info("failed parsing instance id", "provider-id", claim.Status.ProviderID)
		return reconcile.Never, nil
	}
	if err := c.tags.Label(ctx, claim.Status.ProviderID, claim.Status.NodeName, claim.Name); err != nil {
		if cloud.IsNotFound(err) {
			return reconcile.Never, nil
		}
		return reconcile.Never, fmt.Errorf("tag the instance of claim %s: %w", claim.Name, err)
	}
	return c.note(ctx, &claim)
}

// note remembers on the claim that it is done.
func (c controller) note(ctx context.Context, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	changed := claim.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[awsv1.AnnotationTagged] = "true"
	changed.Annotations[awsv1.AnnotationClusterNameTagged] = "true"
	return amend.Fields(ctx, c.kit.Client, claim, changed)
}
