// Package static keeps pools with replicas at their number of nodes, with or without pods. One controller
// makes claims, another deletes surplus ones.
//
//	cache: enough? ──no──▶ API server: how many, really? ──▶ make the next free numbers
//
// The cache only says that there may be something to do. The action follows from the API server's own list,
// and every claim is named after its pool and a number. A claim from an unanswered call, or from another
// process at the same time, has the name that we would use next. So lag, a crash or two leaders never
// create a surplus claim. Limits of nodes are kept in the same way: every existing claim counts, also
// those that are being deleted.
//
// The package must not replace drifted nodes: disruption does, one for one.
package static

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/nodeclaim"
	"tenon/internal/reconcile"
)

const (
	// period is how often a pool without changes is counted.
	period = time.Minute
	// atLimit is when to look again at a pool whose limit leaves no room.
	atLimit = 30 * time.Second
)

type static struct {
	kit   reconcile.Kit
	about cloud.Description
	maker nodeclaim.Maker
}

// New returns the two controllers if the gate StaticCapacity is open; otherwise it returns none.
func New(kit reconcile.Kit) []reconcile.Controller {
	if !kit.Settings.FeatureGates.StaticCapacity {
		return nil
	}
	about := kit.Cloud.Describe()
	s := static{kit, about, nodeclaim.New(about)}
	return []reconcile.Controller{
		s.controller("static.provisioning", s.provision),
		s.controller("static.deprovisioning", s.deprovision),
	}
}

func (s static) controller(name string, do func(context.Context, *karpenterv1.NodePool) (reconcile.Result, error)) reconcile.Controller {
	return reconcile.Controller{
		Name: name,
		Watches: []reconcile.Watch{
			{Kind: &karpenterv1.NodePool{}, Matters: poolMatters},
			{Kind: &karpenterv1.NodeClaim{}, Keys: poolOf, Matters: claimMatters},
		},
		Workers: reconcile.Workers{Min: 10, Max: 10},
		Retry:   reconcile.Backoff{First: time.Second, Longest: time.Minute},
		Reconcile: func(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
			pool := &karpenterv1.NodePool{}
			if err := s.kit.Client.Get(ctx, key, pool); err != nil {
				return reconcile.Never, client.IgnoreNotFound(err)
			}
			if !s.isOurs(pool) {
				return reconcile.Never, nil
			}
			return do(ctx, pool)
		},
	}
}

func (s static) isOurs(pool *karpenterv1.NodePool) bool {
	return pool.IsStatic() && pool.DeletionTimestamp == nil && s.about.Supports(class.Of(pool))
}

func poolOf(_ context.Context, claim client.Object) []reconcile.Key {
	if pool := claim.GetLabels()[karpenterv1.LabelNodePool]; pool != "" {
		return []reconcile.Key{{Name: pool}}
	}
	return nil
}

// seen is the count from the cache.
func (s static) seen(ctx context.Context, pool *karpenterv1.NodePool) (poolClaims, error) {
	claims, err := lookup.ClaimsIn(ctx, s.kit.Client, pool.Name)
	if err != nil {
		return poolClaims{}, err
	}
	return count(pool, claims), nil
}

// current is the pool as the API server has it now, and a count of its claims. The pool is nil if
// there is nothing to do for it.
func (s static) current(ctx context.Context, name string) (*karpenterv1.NodePool, poolClaims, error) {
	pool := &karpenterv1.NodePool{}
	if err := s.kit.Uncached(reconcile.BeforePurchase).Get(ctx, client.ObjectKey{Name: name}, pool); err != nil {
		if err = client.IgnoreNotFound(err); err != nil {
			err = fmt.Errorf("read pool %s: %w", name, err)
		}
		return nil, poolClaims{}, err
	}
	if !s.isOurs(pool) {
		return nil, poolClaims{}, nil
	}
	var list karpenterv1.NodeClaimList
	if err := s.kit.Uncached(reconcile.BeforePurchase).List(ctx, &list, client.MatchingLabels{karpenterv1.LabelNodePool: name}); err != nil {
		return nil, poolClaims{}, fmt.Errorf("list the claims of pool %s: %w", name, err)
	}
	claims := make([]*karpenterv1.NodeClaim, len(list.Items))
	for i := range list.Items {
		claims[i] = &list.Items[i]
	}
	return pool, count(pool, claims), nil
}
