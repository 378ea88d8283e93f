package interruption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instanceevents"
	"tenon/internal/aws/metrics"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/telemetry"
)

// period is between two looks at the status of instances.
const period = time.Minute

// Statuses tells which instances are ill, of the whole account.
type Statuses interface {
	Ill(ctx context.Context) ([]instanceevents.Illness, error)
}

type statusPoller struct {
	kit      reconcile.Kit
	statuses Statuses
	metrics  *metrics.Metrics
}

// NewStatus makes the controller that polls the status of instances. It needs no queue.
func NewStatus(kit reconcile.Kit, statuses Statuses, m *metrics.Metrics) reconcile.Controller {
	p := statusPoller{kit, statuses, m}
	return reconcile.Controller{
		Name:      "interruption.instancestatus",
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: 10 * time.Second, Longest: period},
		Reconcile: p.reconcile,
	}
}

// reconcile polls once. Without the permission there is no point in another one.
func (p statusPoller) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	ill, err := p.statuses.Ill(ctx)
	switch {
	case errors.Is(err, instanceevents.ErrForbidden):
		reconcile.Log(ctx).Error(err, "instance status is not polled until the next start")
		return reconcile.Never, nil
	case err != nil:
		return reconcile.Never, err
	case len(ill) == 0:
		return reconcile.In(period), nil
	}
	claims, err := claimsByInstance(ctx, p.kit)
	if err != nil {
		return reconcile.Never, err
	}
	var trouble []error
	for _, illness := range ill {
		for _, claim := range claims[illness.Instance] {
			if err := p.treat(ctx, illness, claim); err != nil {
				trouble = append(trouble, fmt.Errorf("act on the %s of instance %s: %w", illness.Category, illness.Instance, err))
			}
		}
	}
	return reconcile.In(period), errors.Join(trouble...)
}

// treat removes the claim of an ill instance. If the claim is being removed already, it has been counted
// and announced.
func (p statusPoller) treat(ctx context.Context, illness instanceevents.Illness, claim *karpenterv1.NodeClaim) error {
	if claim.DeletionTimestamp != nil {
		return nil
	}
	node, err := nodeOf(ctx, p.kit, claim)
	if err != nil {
		return err
	}
	p.metrics.InterruptionInstanceStatusUnhealthyTotal.WithLabelValues(string(illness.Category)).Inc()
	p.kit.Events.Publish(both(claim, node, func(o client.Object) telemetry.Event {
		return telemetry.Warning(o, unhealthy, unhealthyMessage)
	})...)
	return remove(ctx, p.kit, claim, node, removal.Reason(illness.Category.Reason()), illness.Category.Forceful())
}
