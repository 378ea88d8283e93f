// Package tagging puts the names of a node and its claim on their instance, for people who
// look at the cloud, and puts back the tags that an instance has from its purchase on and that
// have been removed since.
package tagging

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instance"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Labeller puts tags on an instance that it lacks. NotFound is for one that is gone. Its knowledge of the tags may be a few minutes old,
// unless it was told to forget the instance.
type Labeller interface {
	Label(ctx context.Context, providerID string, tags map[string]string) error
	Forget(providerID string)
}

// again is how often an instance is looked at for tags that have been removed.
const again = 30 * time.Minute

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
		Retry:     reconcile.Backoff{Longest: again},    // a policy may forbid some tags
		Workers:   reconcile.Workers{Min: 50, Max: 500}, // requests at the same time share calls
		Yields:    true,
		Reconcile: c.reconcile,
	}
}

func matters(before, changed client.Object) bool {
	claim, is := changed.(*karpenterv1.NodeClaim)
	return is && claim != nil && taggable(claim) && (before == nil || !done(claim))
}

// taggable: its node has joined.
func taggable(claim *karpenterv1.NodeClaim) bool {
	return claim.Status.NodeName != "" && claim.DeletionTimestamp == nil
}

// done: the tags were put there once.
func done(claim *karpenterv1.NodeClaim) bool {
	return claim.Annotations[awsv1.AnnotationTagged] == "true" && claim.Annotations[awsv1.AnnotationClusterNameTagged] == "true"
}

// askedAgain: a user has removed one of the two annotations, to have the tags put there again.
func askedAgain(claim *karpenterv1.NodeClaim) bool {
	return (claim.Annotations[awsv1.AnnotationTagged] == "true") != (claim.Annotations[awsv1.AnnotationClusterNameTagged] == "true")
}

// tags are those that an instance of a claim should have. The name that people see is set once: if a user
// removes it, it stays away.
func tags(claim *karpenterv1.NodeClaim) map[string]string {
	all := map[string]string{awsv1.TagNodeClaim: claim.Name}
	if !done(claim) {
		all[awsv1.TagName] = claim.Status.NodeName
	}
	if pool := claim.Labels[karpenterv1.LabelNodePool]; pool != "" {
		all[awsv1.TagNodePool] = pool
	}
	if class := claim.Spec.NodeClassRef; class != nil {
		all[awsv1.TagNodeClass] = class.Name
	}
	return all
}

func (c controller) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	var claim karpenterv1.NodeClaim
	if err := c.kit.Client.Get(ctx, key, &claim); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !taggable(&claim) {
		return reconcile.Never, nil
	}
	if _, _, ok := instance.Parse(claim.Status.ProviderID); !ok {
		reconcile.Log(ctx).Info("failed parsing instance id", "provider-id", claim.Status.ProviderID)
		return reconcile.Never, nil
	}
	if askedAgain(&claim) {
		c.tags.Forget(claim.Status.ProviderID)
	}
	if err := c.tags.Label(ctx, claim.Status.ProviderID, tags(&claim)); err != nil {
		if cloud.IsNotFound(err) {
			return reconcile.Never, nil
		}
		return reconcile.Never, fmt.Errorf("tag the instance of claim %s: %w", claim.Name, err)
	}
	if done(&claim) {
		return reconcile.In(again), nil
	}
	if result, err := c.note(ctx, &claim); err != nil || result != reconcile.Never {
		return result, err
	}
	return reconcile.In(again), nil
}

// note remembers on the claim that it is done.
func (c controller) note(ctx context.Context, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	changed := claim.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[awsv1.AnnotationTagged] = "true"
	changed.Annotations[awsv1.AnnotationClusterNameTagged] = "true"
	return patch.Fields(ctx, c.kit, claim, changed)
}
