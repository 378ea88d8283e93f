package assembly

import (
	"tenon/internal/controller/disruption"
	"tenon/internal/controller/nodeclaim/verdict"
	"tenon/internal/controller/nodepool/launches"
	"tenon/internal/controller/nodepool/rollout"
	"tenon/internal/controller/provisioner"
	"tenon/internal/execute"
	"tenon/internal/market"
	"tenon/internal/reconcile"
)

// decisions are the controllers that ask the core: what to buy, and what to give up.
func decisions(p Parts, s sharedParts) []reconcile.Controller {
	offers, executor := market.NewSupply(p.Kit.Clock, p.Market, p.Tracker), execute.New(p.Kit, p.World, p.Parallel)
	provisioner := provisioner.New(p.Kit, provisioner.Options{
		World: p.World, Supply: offers, Executor: executor, Ledger: s.ledger, Synced: p.Synced, Suffix: p.Suffix,
		Effort: p.Effort, Journal: p.Journal, Expander: p.Expander,
	})
	return append(append(disruption.New(p.Kit, disruption.Options{
		World: p.World, Supply: offers, Executor: executor, Synced: p.Synced, Suffix: p.Suffix,
		Rollouts: s.rollouts, Ledger: s.ledger, Tell: s.board.Put, Effort: p.Effort, Pause: p.Pause, Journal: p.Journal,
	}), publish(p, offers)...), provisioner, rollout.New(p.Kit, s.rollouts), verdict.New(p.Kit, s.board), launches.New(p.Kit, p.World))
}
