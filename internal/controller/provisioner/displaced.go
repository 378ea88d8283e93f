package provisioner

import (
	"context"
	"time"

	"tenon/core/model"
	"tenon/core/order"
	"tenon/internal/execute"
	"tenon/internal/ingest"
	"tenon/internal/reconcile"
)

// displaced counts the pods of an order that disruptions have displaced, by disruption.
type displaced map[string]int64

// displacedBy finds the orders that disruptions have caused: the scheduler has bound a moved pod where another
// one was to go. The order's claim gets the time of the pods, as replacements do, so that its pods are not
// moved again for savings that did not materialise: otherwise the same node would be removed and bought again
// every few minutes.
func (l *loop) displacedBy(orders []execute.Order) []displaced {
	out := make([]displaced, len(orders))
	for i := range orders {
		out[i] = displaced{}
		var first time.Time
		for _, ref := range orders[i].Pods {
			by := l.o.World.DisplacedBy(ref)
			if by == "" {
				continue
			}
			out[i][by]++
			if pod, found := l.o.World.Pod(ref.Namespace, ref.Name); found && (first.IsZero() || pod.CreationTimestamp.Time.Before(first)) {
				first = pod.CreationTimestamp.Time
			}
		}
		if !first.IsZero() {
			ingest.Rearrange(orders[i].Claim, first)
		}
	}
	return out
}

// charge charges what was bought for displaced pods to the disruptions that displaced them.
func (l *loop) charge(ctx context.Context, outcomes []execute.Outcome, displacing []displaced) {
	for i, o := range outcomes {
		if o.Claim == nil {
			continue
		}
		for _, by := range order.Keys(displacing[i]) {
			part := o.Order.Price * model.Money(displacing[i][by]) / model.Money(len(o.Order.Pods))
			if err := l.o.Ledger.Bought(ctx, by, o.Order.Pool.Name, part); err != nil {
				reconcile.Log(ctx).Error(err, "could not enter what a disruption cost", "command-id", by)
			}
		}
	}
}
