package static

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/reconcile"
)

// provision creates the claims that a pool lacks, as far as its limit allows.
func (s static) provision(ctx context.Context, pool *karpenterv1.NodePool) (reconcile.Result, error) {
	// 1. The cache says whether there may be something to do.
	seen, err := s.seen(ctx, pool)
	if err != nil || seen.missing(pool) == 0 || !isReady(pool) {
		return reconcile.In(period), err
	}
	// 2. The API server says what.
	pool, current, err := s.current(ctx, pool.Name)
	if err != nil || pool == nil || !isReady(pool) {
		return reconcile.In(period), err
	}
	missing := current.missing(pool)
	granted := min(missing, current.room(pool))
	if missing > 0 && granted == 0 {
		reconcile.Log(ctx).Info("nodepool node limit reached", "NodePool", pool.Name)
		return reconcile.In(atLimit), nil
	}
	// 3. Make it.
	if err := s.makeAll(ctx, pool, granted, current.freeNames(pool.Name)); err != nil {
		return reconcile.Never, err
	}
	if granted < missing {
		return reconcile.In(atLimit), nil
	}
	return reconcile.In(period), nil
}

// errMet says that there were claims that the count did not include, so that the count is invalid.
var errMet = errors.New("another process makes claims of the pool")

// makeAll creates a number of claims. If a claim of this pool has taken a name meanwhile, it counts
// as one of them; a name that another object has is skipped.
func (s static) makeAll(ctx context.Context, pool *karpenterv1.NodePool, n int, nextName func() string) error {
	for made := 0; made < n; {
		claim, err := s.maker.ForPool(pool)
		if err != nil {
			return err
		}
		claim.GenerateName, claim.Name = "", nextName()
		switch err := s.kit.Client.Create(ctx, claim); {
		case err == nil:
			made++
			s.kit.Metrics.NodeclaimsCreatedTotal.WithLabelValues("provisioned", pool.Name, "false").Inc()
			reconcile.Log(ctx).Info("created nodeclaim", "NodePool", pool.Name, "NodeClaim", claim.Name)
		case apierrors.IsAlreadyExists(err):
			if err := s.meet(ctx, pool, claim.Name); err != nil {
				return err
			}
		default:
			return fmt.Errorf("make claim %s: %w", claim.Name, err)
		}
	}
	return nil
}

// meet looks at a claim that has a name which the list said was free. If it belongs to this pool,
// the list is out of date and everything is counted again.
func (s static) meet(ctx context.Context, pool *karpenterv1.NodePool, name string) error {
	claim := &karpenterv1.NodeClaim{}
	err := s.kit.Uncached(reconcile.BeforePurchase).Get(ctx, client.ObjectKey{Name: name}, claim)
	switch {
	case apierrors.IsNotFound(err) || err == nil && claim.Labels[karpenterv1.LabelNodePool] == pool.Name:
		return fmt.Errorf("make claim %s: %w", name, errMet)
	case err != nil:
		return fmt.Errorf("read claim %s: %w", name, err)
	}
	return nil // it belongs to another pool
}
