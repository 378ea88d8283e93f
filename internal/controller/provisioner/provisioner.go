// Package provisioner decides when to make a decision: it waits for pods that need a place, gathers pods
// that arrive together, asks the core, and has the plan carried out. It is the controller `provisioner`.
//
//	pods arrive ──▶ window ──▶ picture ──▶ decide ──▶ launch what need not wait ──▶ tell
//	                  └ wait while more are coming
//
// It decides nothing itself about pods and nodes, and writes only through execute. core/wait decides how
// long pods are gathered, and which parts of a plan wait.
package provisioner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/decide"
	"tenon/core/expand"
	"tenon/core/plan"
	"tenon/core/provision"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/core/wait"
	"tenon/internal/execute"
	"tenon/internal/expander"
	"tenon/internal/journal"
	"tenon/internal/market"
	"tenon/internal/nodeclaim"
	"tenon/internal/reconcile"
	"tenon/internal/savings"
	"tenon/internal/world"
)

// Options are the parameters of the controller, besides the kit.
type Options struct {
	World    *world.World
	Supply   *market.Supply
	Executor *execute.Executor
	// Ledger records what was bought for pods that a disruption has displaced.
	Ledger *savings.Accounts
	// Synced reports whether all objects that existed at the start are in the world. Nil means always.
	Synced func() bool
	// Suffix makes the end of a claim's name.
	Suffix func() string
	// Effort bounds a decision.
	Effort decide.Budget
	// Expander is the server of the expander grpc; nil is none.
	Expander expander.Server
	// Journal keeps every decision and its outcome; nil keeps none.
	Journal *journal.Journal
	// Tell receives every decision with its snapshot; it may be nil.
	Tell func(*snapshot.Snapshot, *decide.Decision)
}

// loop is the provisioner. It keeps only its last decision: when it was made, about what, and the result.
type loop struct {
	kit          reconcile.Kit
	o            Options
	reader       *world.Reader
	intents      nodeclaim.Maker
	currency     string
	unsynced     time.Time     // the time since when; zero if synced
	closed       time.Time     // when the last pod got its place
	took         time.Duration // by the last decision
	said         repeats
	last         round
	decision     decide.Decision // about the reader's last picture
	decided      bool
	answers      []expand.Answer // of the server of the expander grpc, to the questions of this decision
	refusals     refusals
	bufferClaims bufferClaims
	searches     searches
}

// round is one decision.
type round struct {
	demand, supply, objections, changes uint64
	at                                  time.Time
	// left says that pods were left for the next decision during a burst; since is when the first of
	// them appeared.
	left  bool
	since time.Time
	// open says that some pods have no place yet, and late that some wait until others have taken theirs. The supply changes with
	// each of those others, which is no reason to decide about the late ones.
	open, late bool
	next       time.Time // when the picture changes by itself
}

// New makes the controller.
func New(kit reconcile.Kit, o Options) reconcile.Controller {
	if o.Synced == nil {
		o.Synced = func() bool { return true }
	}
	o.Effort.Memory = provision.NewMemory()
	l := &loop{kit: kit, o: o, reader: o.World.Reader(), searches: searches{}, intents: nodeclaim.New(kit.Cloud.Describe()), currency: kit.Cloud.Describe().Currency}
	return reconcile.Controller{
		Name:      "provisioner",
		Subscribe: o.World.Subscribe,
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: 100 * time.Millisecond, Longest: 10 * time.Second},
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) { return l.step(ctx) },
	}
}

// step is one reconciliation.
func (l *loop) step(ctx context.Context) (reconcile.Result, error) {
	now := l.kit.Clock.Now()
	// 1. Does the world have all objects that existed at the start?
	if !l.synced(now) {
		return reconcile.In(unsyncedRetry), nil
	}
	if err := l.resolveDoubts(ctx, now); err != nil {
		return reconcile.Never, err
	}
	// 2. Is there something to decide, and is it time?
	settles := until(l.o.World.Settle(now), now)
	pulse := l.o.World.Pulse()
	if idle(pulse) {
		again, err := l.rest(ctx, pulse, now)
		return settles.Sooner(again), err
	}
	if !l.due(pulse, now) {
		return settles.Sooner(reconcile.In(l.nextLook(pulse).Sub(now))), nil
	}
	w := wait.Window{Idle: l.kit.Settings.BatchIdleDuration, Longest: l.kit.Settings.BatchMaxDuration}
	since := pulse.First
	if l.last.left {
		since = l.last.since
	}
	delay, burst := w.Decision(pulse.Arriving, since, now)
	if fresh := l.last.left || l.last.demand != pulse.Demand; !fresh {
		delay = w.Again(pulse.Arriving, l.last.at, now)
	}
	if delay.Code != reason.None {
		return reconcile.In(delay.Until.Sub(now)), nil
	}
	// 3. Look, decide, act.
	l.o.World.BeginBurst()
	l.refusals.settle(l.o.World, now)
	l.bufferClaims.settle(l.o.World, now)
	market := l.o.Supply.Of(ctx, l.o.World.Pools())
	waiting := snapshot.Waiting{Refused: l.refusals.list(now), Spare: l.bufferClaims.until.UTC(), Burst: burst.UTC()}
	picture := l.reader.Picture(world.Moment{Now: now, Settings: l.kit.Settings.Decision(), Market: market, Waiting: waiting,
		Asks: l.searches.due(l.kit.Settings.ProvisioningRequests.MaxBatch, now)})
	decision := l.decide(ctx, &picture)
	if !burst.IsZero() {
		decision = l.conclude(&picture, w, since)
	}
	number := l.record(l.woke(pulse), picture.Snapshot, decision)
	if l.o.Tell != nil {
		l.o.Tell(picture.Snapshot, decision)
	}
	p := &decision.Plan
	s := wait.Without(picture.Snapshot, p.Held)
	l.count(s, p)
	l.commit(s, p.Existing)
	orders := l.orders(s, p.Claims, market)
	displacing := l.displacedBy(orders)
	outcomes := l.o.Executor.Launch(ctx, orders)
	l.recordOutcomes(number, outcomes)
	l.charge(ctx, outcomes, displacing)
	l.refusals.note(s, outcomes)
	stopped, failed := unfinished(l.resize(ctx, s, p, number))
	spare := l.spare(ctx, s, p, market)
	// 4. Report what was done and what was not.
	l.tell(ctx, s, p, outcomes)
	held := l.refusals.held(s, p)
	l.tellHeld(held)
	l.tellBuffers(ctx, s, p, spare)
	l.tellRequests(ctx, s, p, now)
	left, late := p.Delayed(reason.BurstGoesOn), p.Delayed(reason.PlacesLost)+p.Delayed(reason.GroupsFreed)
	yields := slices.ContainsFunc(p.Held, func(h plan.Held) bool { return h.Delay.Code == reason.PlaceHandedOver })
	l.last = round{
		demand: picture.Pulse.Demand, supply: picture.Pulse.Supply, objections: picture.Pulse.Objections, changes: picture.Pulse.Changes, at: now, next: soonest(picture.Next, held),
		left: left > 0, since: since,
		open: left > 0 || len(p.Unplaced) > 0 || dropped(outcomes) || stopped || len(held) > 0 || yields,
		late: late > 0,
	}
	if again := now.Add(lateRetry); (late > 0 || yields || stopped) && (l.last.next.IsZero() || again.Before(l.last.next)) {
		l.last.next = again
	}
	if failed := cmp.Or(firstError(slices.Concat(outcomes, spare)), failed); failed != nil {
		return reconcile.Never, failed
	}
	return l.again(picture.Pulse, now), nil
}

// decide asks the core, and measures it. While pods find no place, it does so every few seconds,
// mostly about the same state: what to buy does not depend on the time, so that only the waiting is
// decided again.
func (l *loop) decide(ctx context.Context, p *world.Picture) *decide.Decision {
	begun := l.kit.Clock.Now()
	again, same := decide.Decision{}, false
	if p.Same && l.decided {
		p.Snapshot = l.answered(p.Snapshot)
		again, same = l.decision.At(p.Snapshot)
	}
	if !same {
		p.Snapshot = l.askServer(ctx, p.Snapshot)
		again = decide.Decide(p.Snapshot, l.o.Effort)
	}
	l.decision, l.decided = again, true
	l.took = l.kit.Clock.Since(begun)
	l.kit.Metrics.SchedulerSchedulingDurationSeconds.WithLabelValues(name).Observe(l.took.Seconds())
	return &l.decision
}

// conclude is the last decision, which was about a burst. The core may have worked for a second on it; if the burst has ended meanwhile, all of the
// decision is carried out at once, instead of parts now and the rest after another decision.
func (l *loop) conclude(p *world.Picture, w wait.Window, since time.Time) *decide.Decision {
	now := l.kit.Clock.Now()
	if !w.Ended(p.Pulse.Arriving, l.o.World.Pulse().Arriving, since, now) {
		return &l.decision
	}
	s := *p.Snapshot
	s.Now, s.Waiting.Burst = now, time.Time{}
	if whole, same := l.decision.At(&s); same {
		l.decision, p.Snapshot = whole, &s
	}
	return &l.decision
}

// askServer puts the answers of the server of the expander grpc into the snapshot. Without the server all groups stay that it
// would choose among.
func (l *loop) askServer(ctx context.Context, s *snapshot.Snapshot) *snapshot.Snapshot {
	if l.o.Expander == nil {
		return s
	}
	asker := expander.Asker{Server: l.o.Expander, Reader: l.kit.Client}
	s, err := asker.Answer(ctx, s, l.o.Effort)
	if err != nil {
		reconcile.Log(ctx).Error(err, "the expander grpc keeps all groups")
	}
	l.answers = s.Answers
	return s
}

// answered is the snapshot with the answers that the last decision had.
func (l *loop) answered(s *snapshot.Snapshot) *snapshot.Snapshot {
	if l.answers == nil {
		return s
	}
	out := *s
	out.Answers = l.answers
	return &out
}

const name = "provisioner"

// How often to look without an event.
const (
	unsyncedRetry = 20 * time.Millisecond
	tidyFor       = time.Minute // how long pools are checked again after the last pod got its place
	streamRetry   = 250 * time.Millisecond
	lateRetry     = time.Second // for pods that wait for other pods' places, for other pods to take their places, or for other groups
)

// idle reports whether no pod, claim or buffer waits.
func idle(p world.Pulse) bool { return p.Waiting == 0 && p.Displaced == 0 && p.Buffered == 0 }

// rest removes the conditions that were set while pods waited. It looks at the pools again for a while,
// because another writer may have been faster, and the watch may not show our own writes yet.
func (l *loop) rest(ctx context.Context, p world.Pulse, now time.Time) (reconcile.Result, error) {
	if l.last.open || l.last.late {
		l.last = round{demand: p.Demand, supply: p.Supply, objections: p.Objections, at: now}
		l.kit.Metrics.SchedulerUnschedulablePodsCount.WithLabelValues(name).Set(0)
		l.kit.Metrics.SchedulerIgnoredPodsCount.WithLabelValues().Set(0)
		l.closed = now
	}
	again := reconcile.Never
	if now.Sub(l.closed) < tidyFor {
		again = reconcile.In(wait.LookEvery)
	}
	return again, l.o.Executor.MarkPools(ctx, execute.Obstacles{})
}

// due reports whether the world has changed since the last decision in a way that can change the
// decision.
func (l *loop) due(p world.Pulse, now time.Time) bool {
	return l.last.left || p.Demand != l.last.demand || !now.Before(l.nextLook(p))
}

// nextLook is when the last decision is to be looked at again although no pod has come.
func (l *loop) nextLook(p world.Pulse) time.Time {
	return wait.Look{
		Last: l.last.at, Next: l.last.next,
		Supply:     p.Supply != l.last.supply && (l.last.open || p.Displaced > 0),
		Buffers:    p.Buffered > 0 && p.Changes != l.last.changes,
		Objections: p.Objections != l.last.objections,
	}.At()
}

func (l *loop) again(p world.Pulse, now time.Time) reconcile.Result {
	if l.last.left {
		return reconcile.In(streamRetry)
	}
	return reconcile.In(l.nextLook(p).Sub(now))
}

// until is a result that asks for another look at a time; zero means never.
func until(t, now time.Time) reconcile.Result {
	if t.IsZero() {
		return reconcile.Never
	}
	return reconcile.In(t.Sub(now))
}

// synced also reports the state to the metrics, and to the log when it takes long.
func (l *loop) synced(now time.Time) bool {
	m := l.kit.Metrics
	nodes, _ := l.o.World.Size()
	m.ClusterStateNodeCount.WithLabelValues().Set(float64(nodes))
	if l.o.Synced() {
		l.unsynced = time.Time{}
		m.ClusterStateSynced.WithLabelValues().Set(1)
		m.ClusterStateUnsyncedTimeSeconds.WithLabelValues().Set(0)
		return true
	}
	if l.unsynced.IsZero() {
		l.unsynced = now
	}
	m.ClusterStateSynced.WithLabelValues().Set(0)
	m.ClusterStateUnsyncedTimeSeconds.WithLabelValues().Set(now.Sub(l.unsynced).Seconds())
	return false
}

// resolveDoubts asks the API server about claims that we made and that no watch has shown. Otherwise their
// pods would wait for ever.
func (l *loop) resolveDoubts(ctx context.Context, now time.Time) error {
	for _, claim := range l.o.World.Doubtful(now) {
		found := &karpenterv1.NodeClaim{}
		err := l.kit.Uncached(reconcile.AfterLostAnswer).Get(ctx, reconcile.Key{Name: claim}, found)
		switch {
		case err == nil:
			l.o.World.Put(found)
		case errors.IsNotFound(err):
			l.o.World.Retract(claim)
		default:
			return fmt.Errorf("find out whether claim %s was made: %w", claim, err)
		}
	}
	return nil
}

// dropped reports whether a part of the plan no longer held: its pods still wait.
func dropped(outcomes []execute.Outcome) bool {
	return slices.ContainsFunc(outcomes, func(o execute.Outcome) bool { return o.Dropped.Code != reason.None || o.Err != nil })
}

func firstError(outcomes []execute.Outcome) error {
	for _, o := range outcomes {
		if o.Err != nil {
			return o.Err
		}
	}
	return nil
}
