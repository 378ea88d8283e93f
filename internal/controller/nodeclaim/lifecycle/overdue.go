package lifecycle

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
)

// registrationTimeout counts from the claim's creation, not from its launch.
const registrationTimeout = 15 * time.Minute

// overdue is why a claim is given up now, or else how long it still has; zero is for ever.
// Both times count from the creation. The reference counts from the conditions' last
// transitions, which is the same as long as they cannot be put back.
func overdue(claim *karpenterv1.NodeClaim, now time.Time, launchTimeout time.Duration) (removal.Reason, time.Duration) {
	if meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionRegistered) {
		return "", 0
	}
	age := now.Sub(claim.CreationTimestamp.Time)
	launched := meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionLaunched)
	switch {
	case !launched && age >= launchTimeout:
		return removal.LaunchTimeout, 0
	case age >= registrationTimeout:
		return removal.RegistrationTimeout, 0
	case !launched:
		return "", min(launchTimeout, registrationTimeout) - age
	}
	return "", registrationTimeout - age
}

// orTooLate gives the claim up if its time is over, and otherwise sees to it that it is
// looked at when it is. What went wrong before does not keep it from its end.
func (l *lifecycle) orTooLate(ctx context.Context, claim *karpenterv1.NodeClaim, result reconcile.Result, trouble error) (reconcile.Result, error) {
	why, left := overdue(claim, l.kit.Clock.Now(), l.about.LaunchTimeout)
	if why == "" {
		if left > 0 {
			result = result.Sooner(reconcile.In(left))
		}
		return result, trouble
	}
	reconcile.Log(ctx).V(1).Info("terminating due to timeout",
		"reason", string(why), "duration", l.kit.Clock.Since(claim.CreationTimestamp.Time))
	deleted, err := removal.Delete(ctx, l.kit, claim, why)
	if err != nil {
		return reconcile.Never, errors.Join(trouble, err)
	}
	if deleted {
		l.record(ctx, claim, false)
	}
	return reconcile.Never, nil
}
