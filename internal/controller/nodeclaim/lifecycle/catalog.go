package lifecycle

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
)

// Catalogs knows what a pool can buy, with corrections of prices and capacities that the
// provider knows nothing of.
type Catalogs interface {
	Catalog(ctx context.Context, pool *karpenterv1.NodePool) (*catalog.Catalog, error)
}

// catalog is what the claim's pool can buy; nil leaves it to the provider. So does a class
// that is not ready: what was bought before it became so is found by asking the provider.
func (l *lifecycle) catalog(ctx context.Context, claim *karpenterv1.NodeClaim) (*catalog.Catalog, error) {
	name := claim.Labels[karpenterv1.LabelNodePool]
	if l.market == nil || name == "" {
		return nil, nil
	}
	var pool karpenterv1.NodePool
	if err := l.kit.Client.Get(ctx, client.ObjectKey{Name: name}, &pool); err != nil {
		if apierrors.IsNotFound(err) { // a pool that is gone has no corrections
			return nil, nil
		}
		return nil, fmt.Errorf("look up pool %s: %w", name, err)
	}
	offers, err := l.market.Catalog(ctx, &pool)
	switch {
	case as[*cloud.ClassNotReady](err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("what pool %s can buy: %w", name, err)
	}
	return offers, nil
}
