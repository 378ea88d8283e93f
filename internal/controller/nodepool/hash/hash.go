// Package hash writes the hash of each pool's template on the pool: a claim with another hash was made from
// another template and has drifted.
//
// When the hash function changes, old hashes cannot be compared. The claims of the pool are then stamped
// again, before the pool, so that neither an upgrade nor taking over from Karpenter makes a node drift;
// drifted claims stay drifted. A crash in between leaves the pool as it was, and the next run continues.
//
// The package must not decide that anything has drifted: nodeclaim.disruption does.
package hash

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

type stamper struct {
	kit   reconcile.Kit
	about cloud.Description
}

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	s := stamper{kit, kit.Cloud.Describe()}
	return reconcile.Controller{
		Name:      "nodepool.hash",
		Watches:   []reconcile.Watch{{Kind: &karpenterv1.NodePool{}, Matters: matters}},
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Reconcile: s.reconcile,
	}
}

// matters: the template has changed, or what was stamped. The status changes all the time.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	return old.GetGeneration() != changed.GetGeneration() || stampOf(old) != stampOf(changed)
}

func (s stamper) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	pool := &karpenterv1.NodePool{}
	if err := s.kit.Client.Get(ctx, key, pool); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !s.about.Supports(class.Of(pool)) {
		return reconcile.Never, nil
	}
	wanted := stamp{hash: pool.Hash(), version: karpenterv1.NodePoolHashVersion}
	if stampOf(pool).version != wanted.version {
		if err := s.migrate(ctx, pool.Name, wanted); err != nil {
			return reconcile.Never, err
		}
	}
	stamped := pool.DeepCopy()
	wanted.put(stamped)
	return patch.Fields(ctx, s.kit, pool, stamped)
}

// migrate stamps the claims of a pool whose stamp is of another version.
func (s stamper) migrate(ctx context.Context, pool string, wanted stamp) error {
	claims, err := lookup.ClaimsIn(ctx, s.kit.Client, pool)
	if err != nil {
		return err
	}
	for _, claim := range claims {
		stamped := claim.DeepCopy()
		migrated(claim, wanted).put(stamped)
		if _, err := patch.Fields(ctx, s.kit, claim, stamped); err != nil {
			return fmt.Errorf("stamp claim %s anew: %w", claim.Name, err)
		}
	}
	return nil
}

// migrated is the stamp that a claim gets when the pool's version changes. A claim that has
// drifted keeps its hash: it then differs from the pool's, as it did.
func migrated(claim *karpenterv1.NodeClaim, wanted stamp) stamp {
	has := stampOf(claim)
	switch {
	case has.version == wanted.version:
		return has
	case meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionDrifted):
		return stamp{hash: has.hash, version: wanted.version}
	}
	return wanted
}

// stamp is the pair of annotations. Hashes of different versions say nothing about each
// other.
type stamp struct{ hash, version string }

func stampOf(o client.Object) stamp {
	a := o.GetAnnotations()
	return stamp{a[karpenterv1.AnnotationNodePoolHash], a[karpenterv1.AnnotationNodePoolHashVersion]}
}

// put writes the stamp. A claim that never had a hash, and has drifted, still has none.
func (s stamp) put(o client.Object) {
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	for key, value := range map[string]string{karpenterv1.AnnotationNodePoolHash: s.hash, karpenterv1.AnnotationNodePoolHashVersion: s.version} {
		if value != "" {
			a[key] = value
		}
	}
	o.SetAnnotations(a)
}
