// Package comparison is the only controller of shadow mode: every few seconds it decides what Tenon would
// do with a cluster that another autoscaler manages, and adds the decision to the record.
//
// It must not write: not to objects, and not to the cloud.
package comparison

import (
	"context"
	"time"

	"tenon/core/decide"
	"tenon/core/provision"
	"tenon/core/snapshot"
	"tenon/internal/journal"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/shadow"
	"tenon/internal/world"
)

// Options are what the controller works with.
type Options struct {
	World  *world.World
	Supply *market.Supply
	Synced func() bool
	Record *shadow.Record
	// Journal keeps the decisions and how the two stand; nil keeps nothing.
	Journal *journal.Journal
	Effort  decide.Budget
}

const (
	// soonest is how soon to look again when something has changed: pods are to be seen before the other
	// autoscaler has answered to them. every is how often to look although nothing has changed, and share is how
	// much of one core decisions may take, as its inverse.
	soonest = 250 * time.Millisecond
	every   = 5 * time.Second
	share   = 10
	// recorded is how often the journal gets the comparison although nothing is new in it.
	recorded      = time.Minute
	unsyncedRetry = time.Second
)

// name of the controller.
const name = "comparison"

// New makes the controller.
func New(kit reconcile.Kit, o Options) reconcile.Controller {
	c := &comparison{kit: kit, o: o, reader: o.World.Reader(), memory: provision.NewMemory()}
	return reconcile.Controller{
		Name: name, Workers: reconcile.One, Subscribe: o.World.Subscribe,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return c.look(ctx), nil },
	}
}

type comparison struct {
	kit     reconcile.Kit
	o       Options
	reader  *world.Reader
	memory  *provision.Memory
	waiting snapshot.Waiting
	after   string    // where the sweep of the fleet goes on
	next    time.Time // not before
	kept    time.Time // when the journal got the comparison
}

func (c *comparison) look(ctx context.Context) reconcile.Result {
	if !c.o.Synced() {
		return reconcile.In(unsyncedRetry)
	}
	if now := c.kit.Clock.Now(); now.Before(c.next) {
		return reconcile.In(c.next.Sub(now))
	}
	// 1. Look.
	settings := c.kit.Settings.Decision()
	settings.StaticCapacity = c.kit.Settings.FeatureGates.StaticCapacity
	picture := c.reader.Picture(world.Moment{
		Now: c.kit.Clock.Now(), Settings: settings, Market: c.o.Supply.Of(ctx, c.o.World.Pools()), Waiting: c.waiting,
	})
	// 2. Decide.
	begun := c.kit.Clock.Now()
	budget := c.o.Effort
	budget.Disrupt, budget.Unadvised, budget.Unproven, budget.Memory, budget.Sweep.After = true, true, true, c.memory, c.after
	decision := decide.Decide(picture.Snapshot, budget)
	c.waiting, c.after = decision.Waiting, decision.Coverage.Next
	took := c.kit.Clock.Since(begun)
	// 3. Tell.
	c.o.Journal.Decided(journal.Record{By: name, Took: took, Effort: budget, Snapshot: picture.Snapshot, Decision: &decision})
	news := c.o.Record.See(shadow.LookAt(picture.Snapshot, &decision.Plan))
	for _, line := range news {
		reconcile.Log(ctx).Info("shadow", "decision", line.Text)
	}
	report := c.o.Record.Report()
	c.tell(report)
	if now := c.kit.Clock.Now(); len(news) > 0 || now.Sub(c.kept) >= recorded {
		c.o.Journal.Compared(report)
		c.kept = now
	}
	c.next = c.kit.Clock.Now().Add(max(soonest, share*took))
	return reconcile.In(max(every, share*took))
}

// tell writes the metrics.
func (c *comparison) tell(r shadow.Report) {
	m := c.kit.Metrics
	const micros = 1e6
	for name, side := range map[string]shadow.Side{"incumbent": r.Incumbent, "tenon": r.Tenon} {
		m.ShadowNodes.WithLabelValues(name).Set(float64(side.Nodes))
		m.ShadowPrice.WithLabelValues(name).Set(float64(side.PriceMicros) / micros)
		m.ShadowCost.WithLabelValues(name).Set(float64(side.CostMicros) / micros)
		m.ShadowEvictions.WithLabelValues(name).Set(float64(side.Evictions))
		m.ShadowWaitSeconds.WithLabelValues(name).Set(float64(side.WaitedMillis) / 1000)
	}
}
