// Package disruption removes nodes: it asks the core which nodes should go, begins a command for each
// disruption, and carries every command to its end.
//
//	evaluate: picture ──▶ decide ──▶ is it for now? does it still hold? ──▶ mark, launch replacements
//	                                                              │
//	conduct:  claims that have a command ──▶ what is next? ──▶ wait, look again, remove,
//	                                                           or take everything back
//
// The two are controllers of their own: a command never waits for an evaluation, nor for another command.
// They share only what has been written and not yet seen; everything else is on the objects. core/disrupt
// decides what goes, internal/command what comes next.
package disruption

import (
	"context"
	"time"

	"tenon/core/decide"
	"tenon/core/provision"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/journal"
	"tenon/internal/market"
	"tenon/internal/nodeclaim"
	"tenon/internal/reconcile"
	"tenon/internal/rolloutpace"
	"tenon/internal/savings"
	"tenon/internal/world"
)

// Options are what the controllers are made with, beside the kit.
type Options struct {
	World    *world.World
	Supply   *market.Supply
	Executor *execute.Executor
	// Synced reports whether everything that was there at the start has been put into the
	// world. Nil is always.
	Synced func() bool
	// Suffix makes the ends of names.
	Suffix func() string
	// Effort bounds an evaluation.
	Effort decide.Budget
	// Pause is the least time between two evaluations, if it is longer than usual.
	Pause time.Duration
	// Tell is given every evaluation; it may be nil.
	Tell func(*snapshot.Snapshot, *decide.Decision)
	// Journal keeps every evaluation and what came of it; nil keeps none.
	Journal *journal.Journal
	// Rollouts pace drift.
	Rollouts *rolloutpace.Rollouts
	// Ledger gets the expected and the realised savings of commands.
	Ledger *savings.Accounts
}

// New makes the controllers.
func New(kit reconcile.Kit, o Options) []reconcile.Controller {
	if o.Synced == nil {
		o.Synced = func() bool { return true }
	}
	d := &disruption{kit: kit, o: o, intents: nodeclaim.New(kit.Cloud.Describe()), underway: o.World.Disruptions(), reader: o.World.Reader(), memory: provision.NewMemory()}
	return []reconcile.Controller{
		{
			Name: "disruption", Workers: reconcile.One, Retry: retry,
			Subscribe: o.World.Subscribe,
			Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return d.evaluate(ctx) },
		},
		{
			Name: "disruption.queue", Workers: reconcile.One, Retry: retry,
			Subscribe: d.underway.Subscribe,
			Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return d.conduct(ctx) },
		},
	}
}

var retry = reconcile.Backoff{First: time.Second, Longest: 10 * time.Second}

// disruption is what the two controllers share.
type disruption struct {
	kit     reconcile.Kit
	o       Options
	intents nodeclaim.Maker
	// underway are the commands, as far as they are not on the objects.
	underway *world.Disruptions
	// Of the evaluator alone.
	reader *world.Reader
	memory *provision.Memory
	last   round
	broken map[string][]reason.BudgetFault // what is wrong with budgets, by pool, as it was said last
}
