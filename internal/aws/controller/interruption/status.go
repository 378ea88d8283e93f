package interruption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instanceevents"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/telemetry"
)

// period is between two looks at the status of instances.
const period = time.Minute

// Ward tells which instances are ill, of the whole account.
type Ward interface {
	Ill(ctx context.Context) ([]instanceevents.Illness, error)
}

type rounds struct {
	kit  reconcile.Kit
	ward Ward
}

// NewStatus makes the controller that polls the status of instances. It needs no queue.
func NewStatus(kit reconcile.Kit, ward Ward) reconcile.Controller {
	r := rounds{kit, ward}
	return reconcile.Controller{
		Name:      "interruption.instancestatus",
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: 10 * time.Second, Longest: period},
		Reconcile: r.reconcile,
	}
}

// reconcile is one round. Without the permission there is no point in another one.
func (r rounds) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	ill, err := r.ward.Ill(ctx)
	switch {
	case errors.Is(err, instanceevents.ErrForbidden):
		reconcile.Log(ctx).Error(err, "instance status is not polled until the next start")
		return reconcile.Never, nil
	case err != nil:
		return reconcile.Never, err
	case len(ill) == 0:
		return reconcile.In(period), nil
	}
	claims, err := claimsByInstance(ctx, r.kit)
	if err != nil {
		return reconcile.Never, err
	}
	var trouble []error
	for _, illness := range ill {
		for _, claim := range claims[illness.Instance] {
			if err := r.treat(ctx, illness, claim); err != nil {
				trouble = append(trouble, fmt.Errorf("act on the %s of instance %s: %w", illness.Category, illness.Instance, err))
			}
		}
	}
	return reconcile.In(period), errors.Join(trouble...)
}

// treat removes the claim of an ill instance. One that is being removed has been counted
// and announced.
func (r rounds) treat(ctx context.Context, illness instanceevents.Illness, claim *karpenterv1.NodeClaim) error {
	if claim.DeletionTimestamp != nil {
		return nil
	}
	node, err := nodeOf(ctx, r.kit, claim)
	if err != nil {
		return err
	}
	r.kit.Metrics.InterruptionInstanceStatusUnhealthyTotal.WithLabelValues(string(illness.Category)).Inc()
	r.kit.Events.Publish(both(claim, node, func(o client.Object) telemetry.Event {
		return telemetry.Warning(o, unhealthy, unhealthyMessage)
	})...)
	return remove(ctx, r.kit, claim, node, removal.Reason(illness.Category.Reason()), illness.Category.Forceful())
}
