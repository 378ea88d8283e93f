// Package removal deletes claims for controllers and counts them, so that every controller uses the same
// write and the same metrics.
//
// It must not decide anything, and does not wait for the end of the claim, which the finalizer handles.
package removal

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/internal/lookup"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
)

// Reason is why a claim is deleted, as metrics name it.
type Reason string

// The reasons of voluntary removals, and of those that no budget holds back.
const (
	Empty         Reason = "empty"
	Drifted       Reason = "drifted"
	Underutilized Reason = "underutilized"

	Expired              Reason = "expired"
	GarbageCollected     Reason = "garbage_collected"
	LaunchTimeout        Reason = "launch_timeout"
	RegistrationTimeout  Reason = "registration_timeout"
	InsufficientCapacity Reason = "insufficient_capacity"
	NodeClassNotReady    Reason = "nodeclass_not_ready"
	Unhealthy            Reason = "unhealthy"
)

// ReasonOf is the reason of a voluntary removal.
func ReasonOf(r plan.Reason) Reason {
	switch r {
	case plan.Empty:
		return Empty
	case plan.Drifted:
		return Drifted
	}
	return Underutilized
}

// Delete deletes the claim as it was seen, and reports whether it did. A claim that is
// being deleted already, or gone, is left alone and not counted. One that has changed since
// it was seen is a conflict: the controller decides again. So a stale cache can neither
// delete something else nor count one removal twice.
func Delete(ctx context.Context, kit reconcile.Kit, claim *karpenterv1.NodeClaim, why Reason) (bool, error) {
	if claim.DeletionTimestamp != nil {
		return false, nil
	}
	seen := client.Preconditions{UID: &claim.UID, ResourceVersion: &claim.ResourceVersion}
	if err := kit.Client.Delete(ctx, claim.DeepCopy(), seen); err != nil {
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return false, fmt.Errorf("delete claim %s: %w", claim.Name, err)
	}
	count(ctx, kit, claim, why)
	return true, nil
}

func count(ctx context.Context, kit reconcile.Kit, claim *karpenterv1.NodeClaim, why Reason) {
	consolidation := ""
	if why != Drifted { // no policy has a say
		consolidation = policy(ctx, kit, claim)
	}
	labels := []string{string(why), claim.Labels[karpenterv1.LabelNodePool], claim.Labels[karpenterv1.LabelCapacityType],
		consolidation, Mode(claim)}
	kit.Metrics.NodeclaimsDisruptedTotal.WithLabelValues(labels...).Inc()
	if moved := moving(ctx, kit, claim.Status.NodeName); moved > 0 {
		kit.Metrics.PodsDisruptionInitiatedTotal.WithLabelValues(labels...).Add(float64(moved))
	}
}

// policy of the claim's pool. A pool that cannot be found, as while it is being deleted,
// leaves the label empty: a removal must not fail because of a metric.
func policy(ctx context.Context, kit reconcile.Kit, claim *karpenterv1.NodeClaim) string {
	name := claim.Labels[karpenterv1.LabelNodePool]
	if name == "" {
		return ""
	}
	var pool karpenterv1.NodePool
	if err := kit.Client.Get(ctx, client.ObjectKey{Name: name}, &pool); err != nil {
		return ""
	}
	return Policy(&pool)
}

// Policy is a pool's consolidation policy as metrics name it.
func Policy(pool *karpenterv1.NodePool) string {
	switch pool.Spec.Disruption.ConsolidationPolicy {
	case karpenterv1.ConsolidateWhenEmpty:
		return "when_empty"
	case karpenterv1.ConsolidateWhenEmptyOrUnderutilized, "": // the default
		return "when_empty_or_underutilized"
	case karpenterv1.ConsolidateBalanced:
		return "balanced"
	}
	return ""
}

// Mode is how gently the claim's pods will be treated, as metrics name it.
func Mode(claim *karpenterv1.NodeClaim) string {
	switch grace := claim.Spec.TerminationGracePeriod; {
	case grace == nil:
		return "graceful"
	case grace.Duration <= 0:
		return "forceful"
	}
	return "eventual"
}

// moving is how many pods will want another node.
func moving(ctx context.Context, kit reconcile.Kit, node string) int {
	if node == "" {
		return 0
	}
	pods, err := lookup.PodsOn(ctx, kit.Client, node)
	if err != nil {
		return 0 // as with policy: only a metric
	}
	n := 0
	for _, pod := range pods {
		if podpolicy.Reschedulable(pod) {
			n++
		}
	}
	return n
}
