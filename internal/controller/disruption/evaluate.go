package disruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/decide"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/core/wait"
	"tenon/internal/command"
	"tenon/internal/journal"
	"tenon/internal/reconcile"
	"tenon/internal/world"
)

// round is one evaluation.
type round struct {
	adopted bool   // the commands of earlier processes are known
	changes uint64 // of the world, as of the picture
	at      time.Time
	took    time.Duration
	owed    time.Duration    // what evaluations have taken beyond their share
	next    time.Time        // when the answer may change without an event
	after   string           // the node after which the sweep continues
	left    int              // how many nodes the sweep has not reached yet
	ended   int              // how many commands were over
	blind   int              // the number of pools whose offers were unknown
	waiting snapshot.Waiting // what the decision postponed
	held    bool             // it began something, or moves waited for pods in transit
}

const (
	unsyncedRetry = time.Second
	// unseenRetry is how often to check whether the watches show our own writes.
	unseenRetry = 200 * time.Millisecond
	// period is how often to look for commands while there are none.
	period = 10 * time.Second
)

// evaluate is one turn: decide what should go, and begin it.
func (d *disruption) evaluate(ctx context.Context) (reconcile.Result, error) {
	now := d.kit.Clock.Now()
	// 1. Do we know what existed when we started, and what is under way?
	if !d.o.Synced() {
		return reconcile.In(unsyncedRetry), nil
	}
	if err := d.adopt(ctx); err != nil {
		return reconcile.Never, err
	}
	// 2. Is it time?
	pulse := d.o.World.Pulse()
	if left := d.wait(pulse, now); left > 0 && !d.mayBuyMore(ctx, now) {
		return reconcile.In(left), nil
	}
	ended, blind := d.underway.Ended(), d.blind(ctx)
	woke := d.woke(pulse)
	// 3. Look. Commands that were begun must be in the picture, or budgets would be spent twice.
	if _, err := d.meet(ctx); err != nil {
		return reconcile.Never, err
	}
	picture := d.look(ctx, d.reader, now)
	if picture.Unseen {
		return reconcile.In(unseenRetry), nil
	}
	// 4. Decide.
	effort := d.budget(d.last.after)
	decision := d.decide(picture.Snapshot, effort)
	number := d.record(journal.Record{Woke: woke, Effort: effort, Snapshot: picture.Snapshot, Decision: &decision})
	d.last.owed = wait.Owe(d.last.owed, d.last.took, now.Sub(d.last.at))
	d.last.changes, d.last.at = picture.Pulse.Changes, now
	d.last.sweep(decision.Coverage)
	d.last.ended, d.last.blind = ended, blind
	d.last.held = wait.InTransit(picture.Snapshot) || slices.ContainsFunc(decision.Plan.Disruptions, func(g plan.Disruption) bool { return g.Now() })
	d.last.next, d.last.waiting = wait.NextProspect(decision.Plan.Prospects, now), decision.Waiting
	if d.o.Tell != nil {
		d.o.Tell(picture.Snapshot, &decision)
	}
	d.tellBudgets(ctx, picture.Snapshot)
	d.countUnremovable(picture.Snapshot, decision.Plan.Prospects)
	// 5. Begin what need not wait and still holds, and write the marks for what waits.
	err := errors.Join(d.beginAll(ctx, picture, decision.Plan.Disruptions, number), d.markUnneeded(ctx, picture.Snapshot, &decision.Plan))
	return reconcile.In(max(d.wait(d.o.World.Pulse(), d.kit.Clock.Now()), time.Millisecond)), err
}

// sweep records a sweep that takes several evaluations. It is over once each node has been evaluated, even
// if the last evaluation left some out: otherwise it would never end.
func (r *round) sweep(c decide.Coverage) {
	if r.after == "" {
		r.left = c.Swept + c.Skipped
	}
	r.left -= c.Swept
	if r.after = c.Next; r.left <= 0 {
		r.after = ""
	}
}

// wait is the time until the next evaluation; zero or less means now.
func (d *disruption) wait(pulse world.Pulse, now time.Time) time.Duration {
	return wait.Evaluation{
		Last: d.last.at, Took: d.last.took, Owed: d.last.owed, Pause: d.o.Pause, Swept: d.last.after == "", Next: d.last.next,
		// A command that was taken back leaves no visible change behind.
		Changed: pulse.Changes != d.last.changes || d.underway.Ended() != d.last.ended,
		Held:    d.last.held, Over: d.last.held && d.o.World.Transit().Over(),
	}.Left(now)
}

// mayBuyMore reports whether a pool's offers have become known since the last evaluation, which could
// decide little about its nodes. That happens after every start.
func (d *disruption) mayBuyMore(ctx context.Context, now time.Time) bool {
	return d.last.blind > 0 && now.Sub(d.last.at) >= unsyncedRetry && d.blind(ctx) < d.last.blind
}

// blind is the number of pools whose offers are unknown.
func (d *disruption) blind(ctx context.Context) int {
	n := 0
	for _, sale := range d.o.Supply.Of(ctx, d.o.World.Pools()) {
		if sale.Err != nil || sale.Catalog == nil {
			n++
		}
	}
	return n
}

// adopt reads the commands of earlier processes from the API server, because our own watches may be behind.
func (d *disruption) adopt(ctx context.Context) error {
	if d.last.adopted {
		return nil
	}
	var claims karpenterv1.NodeClaimList
	if err := d.kit.Uncached(reconcile.AfterStart).List(ctx, &claims); err != nil {
		return fmt.Errorf("list claims: %w", err)
	}
	for i := range claims.Items {
		if r, found := command.Of(&claims.Items[i]); found && r.Takes(claims.Items[i].Name) && claims.Items[i].DeletionTimestamp == nil {
			d.underway.Restore(r)
		}
	}
	if err := d.adoptNodes(ctx); err != nil {
		return err
	}
	d.last.adopted = true
	return nil
}

// adoptNodes reads the commands on nodes of groups, where there are groups.
func (d *disruption) adoptNodes(ctx context.Context) error {
	if d.kit.Groups == nil {
		return nil
	}
	var nodes corev1.NodeList
	if err := d.kit.Uncached(reconcile.AfterStart).List(ctx, &nodes); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range nodes.Items {
		if r, found := command.Of(&nodes.Items[i]); found && nodes.Items[i].DeletionTimestamp == nil {
			d.underway.Restore(r)
		}
	}
	return nil
}

// viewer takes pictures of the world: permanent ones, or those of a reader, which are valid until
// the next.
type viewer interface {
	Picture(m world.Moment) world.Picture
}

func (d *disruption) look(ctx context.Context, at viewer, now time.Time) world.Picture {
	settings := d.kit.Settings.Decision()
	settings.StaticCapacity = d.kit.Settings.FeatureGates.StaticCapacity
	market := d.o.Supply.Of(ctx, d.o.World.Pools())
	return at.Picture(world.Moment{Now: now, Settings: settings, Market: market, Lesson: d.lessons(ctx), Waiting: d.last.waiting})
}

// lessons returns what past disruptions have shown about each pool, and how many more the commands under
// way allow now.
func (d *disruption) lessons(ctx context.Context) func(*karpenterv1.NodePool, bool) world.Lesson {
	replacing := map[string]int{} // drifted nodes, by pool
	for _, u := range d.underway.List() {
		for _, m := range u.Record.Claims {
			if u.Record.Reason == plan.Drifted {
				replacing[m.Pool]++
			}
		}
	}
	return func(pool *karpenterv1.NodePool, drifted bool) world.Lesson {
		out := world.Lesson{Caution: d.o.Ledger.Caution(pool)}
		if drifted { // the answer requires reading a node class
			out.Pace = d.o.Rollouts.Pace(ctx, pool, replacing[pool.Name])
		}
		return out
	}
}

// decide asks the core, and measures it.
func (d *disruption) decide(s *snapshot.Snapshot, budget decide.Budget) decide.Decision {
	begun := d.kit.Clock.Now()
	budget.Memory = d.memory
	decision := decide.Decide(s, budget)
	d.last.took = d.kit.Clock.Since(begun)
	m := d.kit.Metrics
	m.SchedulerSchedulingDurationSeconds.WithLabelValues("disruption").Observe(d.last.took.Seconds())
	if slices.ContainsFunc(s.Pools, func(p snapshot.Pool) bool { return p.Rules() != nil }) {
		m.ClusterAutoscalerFunctionDurationSeconds.WithLabelValues("findUnneeded").Observe(d.last.took.Seconds())
		m.ClusterAutoscalerLastActivity.WithLabelValues("scaleDown").Set(float64(begun.Unix()))
	}
	m.VoluntaryDisruptionDecisionEvaluationDurationSeconds.WithLabelValues("underutilized", "multi").Observe(d.last.took.Seconds())
	return decision
}

// budget is the effort of an evaluation whose sweep continues after a node.
func (d *disruption) budget(after string) decide.Budget {
	out := d.o.Effort
	out.Disrupt, out.Unadvised, out.Unproven, out.Sweep.After = true, true, true, after
	return out
}
