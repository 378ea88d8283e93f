package lifecycle

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

// probeEvery is how often the oldest rejected claim of a pool is tried again, for example when a permission
// is missing. The others are tried after growing pauses, and at once when a claim of the pool is launched:
// a granted permission takes effect within seconds, and a thousand rejected claims cost few calls.
const probeEvery = 5 * time.Second

// probes reports whether no older claim of the pool waits for its launch.
func (l *lifecycle) probes(ctx context.Context, claim *karpenterv1.NodeClaim) (bool, error) {
	claims, err := lookup.ClaimsRejected(ctx, l.kit.Client, claim.Labels[karpenterv1.LabelNodePool])
	if err != nil {
		return false, err
	}
	for _, other := range claims {
		if order := other.CreationTimestamp.Compare(claim.CreationTimestamp.Time); order < 0 || order == 0 && other.Name < claim.Name {
			return false, nil
		}
	}
	return true, nil
}

// launchedNow reports whether a claim has got its machine.
func launchedNow(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return false
	}
	return old.(*karpenterv1.NodeClaim).Status.ProviderID == "" && changed.(*karpenterv1.NodeClaim).Status.ProviderID != ""
}

// rejectedBeside finds the claims of the same pool that were rejected.
func (l *lifecycle) rejectedBeside(ctx context.Context, object client.Object) []reconcile.Key {
	claims, err := lookup.ClaimsRejected(ctx, l.kit.Client, object.GetLabels()[karpenterv1.LabelNodePool])
	if err != nil {
		reconcile.Log(ctx).Error(err, "finding rejected claims", "NodeClaim", object.GetName())
		return nil
	}
	keys := make([]reconcile.Key, len(claims))
	for i, claim := range claims {
		keys[i] = client.ObjectKeyFromObject(claim)
	}
	return keys
}
