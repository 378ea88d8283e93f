// Package garbagecollection keeps claims, instances and nodes together: a claim whose instance is gone is
// deleted, and so is an instance whose claim is gone, a claim in use whose node is gone, and a
// node that was not registered before its instance went.
//
// It comes last, for what no other controller can see: machines that die without a word,
// claims that are removed with violence, purchases of a process that has died since. So it
// would rather wait than be wrong. What a list does not show counts only after it must have
// shown it, and every removal is preceded by a second look of its own.
package garbagecollection

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/lookup"
	"tenon/internal/parallel"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
)

// period is between two rounds.
const period = 2 * time.Minute

// Workers is how many removals a round makes at the same time: a zone that fails takes
// hundreds of machines with it, and each is looked for once more.
const Workers = 20

type garbage struct {
	kit     reconcile.Kit
	about   cloud.Description
	workers int
	// alone are claims in use that have no node, and since when that was noticed.
	alone map[types.UID]time.Time
}

// New makes the controller, with so many workers.
func New(kit reconcile.Kit, workers int) reconcile.Controller {
	g := &garbage{kit: kit, about: kit.Cloud.Describe().WithDefaults(), workers: workers}
	return reconcile.Controller{
		Name:      "nodeclaim.garbagecollection",
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: 10 * time.Second, Longest: period},
		Reconcile: g.reconcile,
	}
}

// reconcile is one round. The instances are listed before the claims: a claim is there
// before its instance is bought.
func (g *garbage) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	began := g.kit.Clock.Now()
	instances, err := g.kit.Cloud.List(ctx)
	if err != nil {
		return reconcile.Never, fmt.Errorf("list instances: %w", err)
	}
	var claims karpenterv1.NodeClaimList
	if err := g.kit.Client.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil {
		return reconcile.Never, fmt.Errorf("list claims: %w", err)
	}
	trouble := errors.Join(
		parallel.Try(g.workers, lost(claims.Items, instances, began, g.about), func(claim *karpenterv1.NodeClaim) error {
			return g.collectClaim(ctx, claim)
		}),
		g.collectInstances(ctx, claims.Items, instances, began),
		g.collectNodes(ctx, claims.Items, instances, began),
	)
	return reconcile.In(period), trouble
}

// collectClaim deletes a claim whose instance is missing, unless its node is fine or the
// instance can be found after all.
func (g *garbage) collectClaim(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	nodes, err := lookup.NodesOfClaim(ctx, g.kit.Client, claim)
	if err != nil || anyReady(nodes) {
		return err
	}
	instance, err := g.kit.Cloud.Get(ctx, claim.Status.ProviderID)
	switch {
	case err == nil && instance.State != cloud.Terminating:
		return nil // the list was behind, or wrong
	case err != nil && !cloud.IsNotFound(err):
		return fmt.Errorf("look for instance %s of claim %s: %w", claim.Status.ProviderID, claim.Name, err)
	}
	return g.remove(ctx, claim, "garbage collecting nodeclaim with no cloudprovider representation")
}

// remove deletes a claim, and says why if it was there still.
func (g *garbage) remove(ctx context.Context, claim *karpenterv1.NodeClaim, why string) error {
	deleted, err := removal.Delete(ctx, g.kit, claim, removal.GarbageCollected)
	if deleted {
		reconcile.Log(ctx).V(1).Info(why, "NodeClaim", claim.Name, "provider-id", claim.Status.ProviderID, "Node", claim.Status.NodeName)
	}
	if patch.Outdated(err) { // the next round sees what has changed
		return nil
	}
	return err
}

func anyReady(nodes []*corev1.Node) bool {
	for _, node := range nodes {
		for i := range node.Status.Conditions {
			if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				return true
			}
		}
	}
	return false
}

// collectInstances removes instances that no claim knows of. Whether there is a claim is asked of
// the API server itself, and only if the cache gives reason to.
func (g *garbage) collectInstances(ctx context.Context, cached []karpenterv1.NodeClaim, instances []cloud.Instance, now time.Time) error {
	suspects := orphans(cached, instances, now, g.about)
	if len(suspects) == 0 {
		return nil
	}
	var live karpenterv1.NodeClaimList
	if err := g.kit.Uncached(reconcile.BeforeRemoval).List(ctx, &live); err != nil {
		return fmt.Errorf("list claims past the cache: %w", err)
	}
	return parallel.Try(g.workers, orphans(live.Items, suspects, now, g.about), func(i cloud.Instance) error {
		return g.collectInstance(ctx, i)
	})
}

// collectInstance removes an instance and the node that it may have become.
func (g *garbage) collectInstance(ctx context.Context, i cloud.Instance) error {
	if err := g.kit.Cloud.Delete(ctx, i.ProviderID); err != nil && !cloud.IsNotFound(err) {
		return fmt.Errorf("remove instance %s, which no claim knows of: %w", i.ProviderID, err)
	}
	reconcile.Log(ctx).Info("garbage collected instance with no nodeclaim", "provider-id", i.ProviderID, "NodeClaim", i.ClaimName)
	nodes, err := lookup.NodesOf(ctx, g.kit.Client, i.ProviderID)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if err := patch.Delete(ctx, g.kit, node); err != nil {
			return fmt.Errorf("delete node %s of a removed instance: %w", node.Name, err)
		}
	}
	return nil
}
