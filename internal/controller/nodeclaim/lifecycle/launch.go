package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/telemetry"
	"tenon/internal/translate"
)

// launching is how far a launch has come.
type launching struct {
	// over says that there is nothing to follow now: the claim was given up, or has to be
	// tried again.
	over   bool
	result reconcile.Result
}

// launch buys an instance for a claim that has none. proven says that the claim was just
// written to, so that it certainly exists.
func (l *lifecycle) launch(ctx context.Context, claim *karpenterv1.NodeClaim, proven bool) (launching, error) {
	conditions := claim.Conditions(l.kit.Clock.Now())
	if !conditions.HasStatus(karpenterv1.ConditionLaunched, metav1.ConditionUnknown) || claim.Status.ProviderID != "" {
		l.bought.forget(claim.Name)
		return launching{}, nil
	}
	if l.bought.holds(claim) {
		return launching{over: true}, nil
	}
	if !proven {
		wanted, err := l.stillWanted(ctx, claim)
		if err != nil || !wanted {
			return launching{over: true}, err
		}
	}
	order, err := translate.Order(claim, l.words)
	if err != nil {
		return l.again(ctx, claim, judge(err))
	}
	if order.Catalog, err = l.catalog(ctx, claim); err != nil {
		return l.again(ctx, claim, judge(err)) // which certainly bought nothing, and passes
	}
	instance, err := l.kit.Cloud.Create(ctx, order)
	if err == nil {
		return launching{}, l.keep(ctx, claim, order, instance)
	}
	return l.refused(ctx, claim, judge(err))
}

// stillWanted looks past the cache. After a change of leader the cache may be older than what the last
// leader did, and nothing must be bought for a claim that is gone.
func (l *lifecycle) stillWanted(ctx context.Context, claim *karpenterv1.NodeClaim) (bool, error) {
	var now karpenterv1.NodeClaim
	if err := l.kit.Uncached(reconcile.BeforePurchase).Get(ctx, client.ObjectKeyFromObject(claim), &now); err != nil {
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return false, fmt.Errorf("look whether claim %s is still wanted: %w", claim.Name, err)
	}
	return now.UID == claim.UID && now.DeletionTimestamp == nil && now.Status.ProviderID == "", nil
}

// keep writes what was bought on the claim, also on one that is being deleted by now: then its end can
// begin at once. If the claim itself is gone, the instance is not needed. After too many conflicts the next
// reconcile continues, which gets the same instance for the same token.
func (l *lifecycle) keep(ctx context.Context, claim *karpenterv1.NodeClaim, order cloud.Claim, i cloud.Instance) error {
	err := patch.Retry(ctx, l.kit, claim, func(now *karpenterv1.NodeClaim) error {
		*claim = *now
		before := claim.DeepCopy()
		translate.Record(claim, order, i)
		conditions := claim.Conditions(l.kit.Clock.Now())
		conditions.SetTrue(karpenterv1.ConditionLaunched)
		if claim.Status.NodeName == "" { // what is found next, and would be one more write
			conditions.SetUnknown(karpenterv1.ConditionRegistered, nodeNotFound, nodeNotFoundMessage)
		}
		claim.Status.Conditions = conditions.List()
		return l.save(ctx, before, claim)
	})
	switch {
	case apierrors.IsNotFound(err):
		return l.giveBack(ctx, claim.Name, i)
	case err != nil:
		return fmt.Errorf("write instance %s of claim %s: %w", i.ProviderID, claim.Name, err)
	}
	l.bought.note(claim)
	l.logLaunched(ctx, claim, i)
	return nil
}

// giveBack removes an instance whose claim went away while it was being bought, which takes
// a user who removes finalizers by hand.
func (l *lifecycle) giveBack(ctx context.Context, name string, i cloud.Instance) error {
	if err := l.kit.Cloud.Delete(ctx, i.ProviderID); err != nil && !cloud.IsNotFound(err) {
		return fmt.Errorf("remove instance %s of the vanished claim %s: %w", i.ProviderID, name, err)
	}
	return apierrors.NewNotFound(karpenterv1.GroupVersion.WithResource("nodeclaims").GroupResource(), name)
}

func (l *lifecycle) logLaunched(ctx context.Context, claim *karpenterv1.NodeClaim, i cloud.Instance) {
	reconcile.Log(ctx).Info("launched nodeclaim",
		"provider-id", i.ProviderID,
		"instance-type", i.Offer.InstanceType,
		"zone", i.Offer.Zone,
		"capacity-type", i.Offer.CapacityType,
		"allocatable", claim.Status.Allocatable)
}

// refused acts on a failure: the claim goes, or is tried again.
func (l *lifecycle) refused(ctx context.Context, claim *karpenterv1.NodeClaim, v launchFailure) (launching, error) {
	if v.remove == "" {
		return l.again(ctx, claim, v)
	}
	if v.event != "" {
		l.kit.Events.Publish(telemetry.Warning(claim, v.event, fmt.Sprintf("NodeClaim %s event: %s", claim.Name, shorten(v.err.Error()))))
	}
	reconcile.Log(ctx).Error(v.err, "failed launching nodeclaim")
	deleted, err := removal.Delete(ctx, l.kit, claim, v.remove)
	if err != nil || !deleted || !v.nothing {
		return launching{over: true}, err
	}
	return launching{over: true}, l.releaseUnbought(ctx, claim)
}

// again says on the claim why it was not launched, and asks for another try: when the cloud says, or after
// growing pauses.
func (l *lifecycle) again(ctx context.Context, claim *karpenterv1.NodeClaim, v launchFailure) (launching, error) {
	before := claim.DeepCopy()
	conditions := claim.Conditions(l.kit.Clock.Now())
	conditions.SetUnknown(karpenterv1.ConditionLaunched, v.reason, v.message)
	claim.Status.Conditions = conditions.List()
	err := l.save(ctx, before, claim)
	if throttled, is := errors.AsType[*cloud.Throttled](v.err); is && err == nil {
		return launching{over: true, result: reconcile.In(throttled.RetryAfter)}, nil
	}
	if v.after > 0 && err == nil {
		l.kit.Events.Publish(telemetry.Warning(claim, v.reason, "Failed resolving NodeClass: "+v.message).Within(time.Minute))
		return launching{over: true, result: reconcile.In(v.after)}, nil
	}
	launch := fmt.Errorf("launch claim %s: %w", claim.Name, v.err)
	if as[*cloud.Rejected](v.err) && err == nil {
		if first, err := l.probes(ctx, claim); err == nil && first {
			reconcile.Log(ctx).Error(launch, "a launch was rejected, and is tried again soon")
			return launching{over: true, result: reconcile.In(probeEvery)}, nil
		}
	}
	if err == nil || reconcile.Overtaken(err) { // the next try finds a reason, too
		return launching{over: true}, launch
	}
	return launching{over: true}, errors.Join(launch, fmt.Errorf("say so on the claim: %w", err))
}

// releaseUnbought ends a claim for which nothing was ever bought, without the wait that uncertainty would
// ask for. If it fails, the ordinary end does the same a little later.
func (l *lifecycle) releaseUnbought(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	var now karpenterv1.NodeClaim
	if err := l.kit.Uncached(reconcile.BeforeRemoval).Get(ctx, client.ObjectKeyFromObject(claim), &now); err != nil {
		return client.IgnoreNotFound(err)
	}
	if now.UID != claim.UID || now.DeletionTimestamp == nil || now.Status.ProviderID != "" {
		return nil
	}
	return l.release(ctx, &now)
}
