package nodeclass

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// stamper writes the hash by which nodes drift from their class.
type stamper struct {
	kit       reconcile.Kit
	authority string
}

func newStamper(kit reconcile.Kit, authority string) reconcile.Controller {
	s := stamper{kit, authority}
	return reconcile.Controller{
		Name:      "nodeclass.hash",
		Watches:   []reconcile.Watch{{Kind: &awsv1.EC2NodeClass{}, Matters: matters}},
		Workers:   reconcile.Workers{Min: 10, Max: 10},
		Reconcile: s.reconcile,
	}
}

// reconcile stamps the class. When the hash function has changed, old hashes cannot be compared. The claims
// are then stamped again before the class, so that an upgrade drifts no node and a run after a crash
// continues.
func (s stamper) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	class := &awsv1.EC2NodeClass{}
	if err := s.kit.Client.Get(ctx, key, class); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	hash, err := class.Hash(s.authority)
	if err != nil {
		return reconcile.Never, err
	}
	wanted := stamp{hash, awsv1.HashVersion}
	if stampOf(class).version != wanted.version {
		if err := s.migrate(ctx, class, wanted); err != nil {
			return reconcile.Never, err
		}
	}
	stamped := class.DeepCopy()
	wanted.put(stamped)
	return patch.Fields(ctx, s.kit, class, stamped)
}

func (s stamper) migrate(ctx context.Context, class *awsv1.EC2NodeClass, wanted stamp) error {
	claims, err := lookup.ClaimsWith(ctx, s.kit.Client, refOf(class))
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

// stamp is the pair of annotations.
type stamp struct{ hash, version string }

func stampOf(o client.Object) stamp {
	a := o.GetAnnotations()
	return stamp{a[awsv1.AnnotationNodeClassHash], a[awsv1.AnnotationNodeClassHashVersion]}
}

// migrated is the stamp of a claim after the class's. A claim whose condition Drifted is set keeps its
// hash, so that the drift stays visible.
func migrated(claim *karpenterv1.NodeClaim, wanted stamp) stamp {
	has := stampOf(claim)
	if has.version == wanted.version {
		return has
	}
	for _, c := range claim.Status.Conditions {
		if c.Type == karpenterv1.ConditionDrifted {
			return stamp{has.hash, wanted.version}
		}
	}
	return wanted
}

func (s stamp) put(o client.Object) {
	a := o.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a[awsv1.AnnotationNodeClassHashVersion] = s.version
	if s.hash != "" {
		a[awsv1.AnnotationNodeClassHash] = s.hash
	}
	o.SetAnnotations(a)
}
