package lifecycle

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
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
	claims, err := lookup.ClaimsIn(ctx, l.kit.Client, claim.Labels[karpenterv1.LabelNodePool])
	if err != nil {
		return false, err
	}
	for _, other := range claims {
		if order := other.CreationTimestamp.Compare(claim.CreationTimestamp.Time); rejected(other) && (order < 0 || order == 0 && other.Name < claim.Name) {
			return false, nil
		}
	}
	return true, nil
}

// rejected reports whether a launch of the claim was rejected.
func rejected(claim *karpenterv1.NodeClaim) bool {
	c := meta.FindStatusCondition(claim.Status.Conditions, karpenterv1.ConditionLaunched)
	return claim.DeletionTimestamp == nil && claim.Status.ProviderID == "" &&
		c != nil && c.Status == metav1.ConditionUnknown && c.Reason != condition.AwaitingReconciliation
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
	claims, err := lookup.ClaimsIn(ctx, l.kit.Client, object.GetLabels()[karpenterv1.LabelNodePool])
	if err != nil {
		reconcile.Log(ctx).Error(err, "finding rejected claims", "NodeClaim", object.GetName())
		return nil
	}
	var keys []reconcile.Key
	for _, claim := range claims {
		if rejected(claim) {
			keys = append(keys, client.ObjectKeyFromObject(claim))
		}
	}
	return keys
}
