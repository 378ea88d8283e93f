// Package counter writes on every pool how many nodes it has and what they have together,
// for people, dashboards and the scale subresource. No decision depends on it: decisions count
// for themselves, and do not wait for a status.
package counter

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

const (
	// period is how often a pool is counted although nothing has been noticed: a user may have written the
	// status by hand. Karpenter counts every five seconds; here claims and nodes wake the controller at
	// once.
	period = 30 * time.Second
	// pause is the least time between two counts of a pool. A scale-out of thousands of
	// nodes would otherwise have them all counted again for each of them.
	pause = 500 * time.Millisecond
)

type counter struct {
	kit   reconcile.Kit
	about cloud.Description
	pace  *pace
}

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	c := counter{kit, kit.Cloud.Describe(), newPace(kit.Clock, pause)}
	return reconcile.Controller{
		Name: "nodepool.counter",
		Watches: []reconcile.Watch{
			{Kind: &karpenterv1.NodePool{}, Matters: func(old, changed client.Object) bool { return old == nil && changed != nil }},
			{Kind: &karpenterv1.NodeClaim{}, Keys: poolOf, Matters: claimMatters},
			{Kind: &corev1.Node{}, Keys: poolOf, Matters: nodeMatters},
		},
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Reconcile: c.reconcile,
	}
}

// poolOf is the pool that a claim or a node says it is of.
func poolOf(_ context.Context, object client.Object) []reconcile.Key {
	if pool := object.GetLabels()[karpenterv1.LabelNodePool]; pool != "" {
		return []reconcile.Key{{Name: pool}}
	}
	return nil
}

func (c counter) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	if wait := c.pace.wait(key.Name); wait > 0 {
		return reconcile.In(wait), nil
	}
	pool := &karpenterv1.NodePool{}
	if err := c.kit.Client.Get(ctx, key, pool); err != nil {
		c.pace.forget(key.Name)
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !c.about.Supports(class.Of(pool)) {
		return reconcile.Never, nil
	}
	members, err := c.members(ctx, pool.Name)
	if err != nil {
		return reconcile.Never, err
	}
	counted := pool.DeepCopy()
	write(&counted.Status, members)
	again, err := patch.Values(ctx, c.kit, pool, counted)
	return again.Sooner(reconcile.In(period)), err
}

// members pairs the pool's claims with their nodes.
func (c counter) members(ctx context.Context, pool string) ([]claimAndNode, error) {
	claims, err := lookup.ClaimsIn(ctx, c.kit.Client, pool)
	if err != nil {
		return nil, err
	}
	members := make([]claimAndNode, 0, len(claims))
	for _, claim := range claims {
		nodes, err := lookup.NodesOfClaim(ctx, c.kit.Client, claim)
		if err != nil {
			return nil, err
		}
		m := claimAndNode{claim: claim}
		if len(nodes) == 1 { // two are a mistake, and it is not known which of them is right
			m.node = nodes[0]
		}
		members = append(members, m)
	}
	return members, nil
}
