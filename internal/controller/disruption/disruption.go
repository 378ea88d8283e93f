// Package disruption gives nodes up: it asks the core what should go, begins that as
// commands, and sees every command through to its end.
//
//	evaluate: picture ──▶ decide ──▶ does it still hold? ──▶ mark, launch replacements
//	                                                              │
//	conduct:  claims that have a command ──▶ what is next? ──▶ wait, look again, remove,
//	                                                           or take everything back
//
// The two are controllers of their own: a command never waits for an evaluation, nor for
// another command. What they share is only what has been written and not yet seen; all
// else is on the objects. What is decided is the business of core/disrupt, what comes next
// that of internal/command.
package disruption

import (
	"context"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/decide"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/execute"
	"tenon/internal/intent"
	"tenon/internal/reconcile"
	"tenon/internal/supply"
	"tenon/internal/world"
)

// Options are what the controllers are made with, beside the kit.
type Options struct {
	World    *world.World
	Supply   *supply.Supply
	Executor *execute.Executor
	// Synced reports whether everything that was there at the start has been put into the
	// world. Nil is always.
	Synced func() bool
	// Suffix makes the ends of names.
	Suffix func() string
	// Tell is given every evaluation. Nil is nobody.
	Tell func(*snapshot.Snapshot, *decide.Decision)
	// Rollouts say how many more nodes of a pool may drift away. Nil is as many as budgets let.
	Rollouts Rollouts
	// Ledger is told what commands were to save, and what they saved. Nil is nobody.
	Ledger Ledger
}

// Rollouts pace drift.
type Rollouts interface {
	// More is how many more disruptions may begin in a pool, and why not more.
	More(pool *karpenterv1.NodePool, underway int, now time.Time) (more int, why string)
	// Ended is told of every disruption for drift that is over; failed is empty if it was
	// carried out.
	Ended(ctx context.Context, r command.Record, failed string)
}

// New makes the controllers.
func New(kit reconcile.Kit, o Options) []reconcile.Controller {
	if o.Synced == nil {
		o.Synced = func() bool { return true }
	}
	d := &disruption{kit: kit, o: o, intents: intent.New(kit.Cloud.Describe()), desk: newDesk()}
	return []reconcile.Controller{
		{
			Name: "disruption", Workers: reconcile.One, Retry: retry,
			Subscribe: o.World.Subscribe,
			Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return d.evaluate(ctx) },
		},
		{
			Name: "disruption.queue", Workers: reconcile.One, Retry: retry,
			Subscribe: d.desk.subscribe,
			Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return d.conduct(ctx) },
		},
	}
}

var retry = reconcile.Backoff{First: time.Second, Longest: 10 * time.Second}

// disruption is what the two controllers share.
type disruption struct {
	kit     reconcile.Kit
	o       Options
	intents intent.Maker
	desk    *desk
	last    round // of the evaluator alone
}
