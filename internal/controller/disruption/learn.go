package disruption

import (
	"context"
	"errors"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/command"
	"tenon/internal/reconcile"
)

// succeeded reports a completed command to the roll-outs and the ledger. A command whose nodes were
// removed by others, before its replacements were ready, counts for neither.
func (d *disruption) succeeded(ctx context.Context, s *command.State) error {
	for _, r := range s.Replacements {
		if r == nil || !r.Conditions(s.Now).IsTrue(karpenterv1.ConditionInitialized) {
			return nil
		}
	}
	reconcile.Log(ctx).Info("command succeeded", "command-id", s.Record.ID, "decision", s.Record.Decision())
	return d.ended(ctx, s, command.Why{})
}

// ended reports a command that was carried out, or failed. Reporting it twice does no harm, so it happens
// before the command's marks are removed.
func (d *disruption) ended(ctx context.Context, s *command.State, failed command.Why) error {
	return d.o.Executor.InTurn(func() error {
		return errors.Join(
			d.o.Rollouts.Ended(ctx, s.Record, failed.Text()),
			d.o.Ledger.Over(ctx, s.Record, d.realised(s), failed.Code != reason.None),
		)
	})
}

// realised is what a command saves an hour by the prices of the instances that were launched for
// it.
func (d *disruption) realised(s *command.State) model.Money {
	return d.sum(s.Record.Claims) - d.sum(s.Record.Replacements)
}

// sum is the price of all members.
func (d *disruption) sum(members []command.Member) model.Money {
	var sum model.Money
	for _, m := range members {
		sum += d.o.World.Price(m)
	}
	return sum
}
