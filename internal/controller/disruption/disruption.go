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

// Options are the parameters of the controllers, besides the kit.
type Options struct {
	World    *world.World
	Supply   *market.Supply
	Executor *execute.Executor
	// Synced reports whether all objects that existed at the start are in the world. Nil means always.
	Synced func() bool
	// Suffix makes the ends of names.
	Suffix func() string
	// Effort bounds an evaluation.
	Effort decide.Budget
	// Pause is the minimum time between two evaluations, if it is longer than usual.
	Pause time.Duration
	// Tell receives every evaluation; it may be nil.
	Tell func(*snapshot.Snapshot, *decide.Decision)
	// Journal keeps every evaluation and its outcome; nil keeps none.
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
	// underway are the commands, as far as the objects do not show them.
	underway *world.Disruptions
	// Used by the evaluator alone.
	reader *world.Reader
	memory *provision.Memory
	last   round
	broken map[string][]reason.BudgetFault // the errors of budgets, by pool, as last reported
}
