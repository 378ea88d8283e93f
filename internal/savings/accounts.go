package savings

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Annotation holds the account of a pool. Removing it starts a new one.
const Annotation = "tenon.sh/savings"

// Accounts reads and writes the accounts of pools. All methods may be called concurrently.
type Accounts struct{ kit reconcile.Kit }

// New returns Accounts. It has no state of its own.
func New(kit reconcile.Kit) *Accounts { return &Accounts{kit} }

// Of is the account of a pool.
func Of(pool *karpenterv1.NodePool) Account { return read(pool.Annotations[Annotation]) }

// Caution is how much evictions from a pool's nodes have to save now, in thousandths of what would
// otherwise be enough. It is for the pool's snapshot.Consolidation.
func (l *Accounts) Caution(pool *karpenterv1.NodePool) int {
	return Of(pool).Caution(l.kit.Clock.Now())
}

// Over notes that a command is over. Realised is the price of the removed nodes less that of the instances
// launched for them; later purchases for its pods are reported to Bought. A command that failed was
// abandoned before any eviction. Commands for drift do not count, because their purpose is not to save
// money. Calling it twice does no harm.
func (l *Accounts) Over(ctx context.Context, record command.Record, realised model.Money, failed bool) error {
	if record.Reason == plan.Drifted {
		return nil
	}
	now := l.kit.Clock.Now()
	for _, part := range parts(record, realised) {
		err := l.change(ctx, part.pool, func(a Account) Account {
			a = a.As(now)
			if failed {
				return a.Abandoned(record.ID)
			}
			part.move.Over = now
			return a.Over(part.move)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Bought notes that a node of a pool was bought for pods that a command has displaced. If the command is
// not over, the pool keeps the charge until it is. Calling it twice charges twice.
func (l *Accounts) Bought(ctx context.Context, id, pool string, price model.Money) error {
	now := l.kit.Clock.Now()
	var pools karpenterv1.NodePoolList
	if err := l.kit.Client.List(ctx, &pools, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list pools: %w", err)
	}
	var names []string
	var weights []model.Money
	for i := range pools.Items {
		if m, is := Of(&pools.Items[i]).As(now).Charges(id); is {
			names, weights = append(names, pools.Items[i].Name), append(weights, m.Predicted)
		}
	}
	if len(names) == 0 {
		return l.change(ctx, pool, func(a Account) Account { return a.As(now).BoughtEarly(id, price, now) })
	}
	for i, price := range split(price, weights) {
		if err := l.change(ctx, names[i], func(a Account) Account { return a.As(now).Bought(id, price) }); err != nil {
			return err
		}
	}
	return nil
}

// poolPart is the part of a command that belongs to a pool.
type poolPart struct {
	pool string
	move Move
}

// parts divides a command among the pools whose nodes it removes, by the prices of those nodes.
func parts(record command.Record, realised model.Money) []poolPart {
	pools := record.Pools()
	weights := make([]model.Money, len(pools))
	for i, pool := range pools {
		for _, m := range record.Claims {
			if m.Pool == pool {
				weights[i] += m.Price
			}
		}
	}
	predicted, real := split(record.Savings, weights), split(realised, weights)
	evictions := split(model.Money(record.Evictions), weights)
	out := make([]poolPart, len(pools))
	for i, pool := range pools {
		out[i] = poolPart{pool, Move{
			ID: record.ID, Predicted: predicted[i], Realised: real[i], Evictions: int64(evictions[i]),
			Weighed: record.Reason == plan.Underutilized,
		}}
	}
	return out
}

// split divides an amount by weights, evenly if there are none; the parts add up to the amount.
func split(amount model.Money, weights []model.Money) []model.Money {
	out := make([]model.Money, len(weights))
	total := model.Money(0)
	for _, w := range weights {
		total += max(w, 0)
	}
	left := amount
	for i, w := range weights {
		if total > 0 {
			out[i] = model.Money(float64(amount) * float64(max(w, 0)) / float64(total))
		} else {
			out[i] = amount / model.Money(len(weights))
		}
		left -= out[i]
	}
	if len(out) > 0 {
		out[len(out)-1] += left
	}
	return out
}

// change reads past the cache, because one command may end right after another. Node groups have no account.
func (l *Accounts) change(ctx context.Context, name string, change func(Account) Account) error {
	if _, grouped := snapshot.NodeGroup(name); grouped {
		return nil
	}
	err := patch.Current(ctx, l.kit, name, func(pool *karpenterv1.NodePool) error {
		after := change(Of(pool)).String()
		if after == pool.Annotations[Annotation] {
			return nil
		}
		changed := pool.DeepCopy()
		if changed.Annotations == nil {
			changed.Annotations = map[string]string{}
		}
		changed.Annotations[Annotation] = after
		return patch.IfUnchanged(ctx, l.kit, pool, changed)
	})
	if err != nil {
		return fmt.Errorf("write the savings of pool %s: %w", name, err)
	}
	return nil
}
