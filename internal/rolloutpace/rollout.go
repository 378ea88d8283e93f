// Package rolloutpace paces the replacement of drifted nodes, pool by pool, so that a bad image
// costs one node and not a pool.
//
//	canary ── success ──▶ growing: one more at a time for each success, half as many after a
//	   │                     │     failure
//	   │ failure             │ two failures in a row
//	   ▼                     ▼
//	paused, for 1, 2, 4 … 30 minutes, and then a canary again
//
// So every round of successes is twice as large as the last, and at most one more node is under way than
// have succeeded.
//
// When the specification of the nodes changes, in the pool or in its node class, everything
// begins anew with a canary, because the change may have removed the cause of the failures.
//
// The rules are pure (state.go). Where a pool stands is written on the pool, so that a
// restart forgets nothing and people can read it; what they see is the condition
// RolloutPaused. The package must not begin or end a disruption.
package rolloutpace

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/class"
	"tenon/internal/command"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Annotation holds the state of a pool's roll-out. Removing it restarts the roll-out.
const Annotation = "tenon.sh/rollout"

// Rollouts reads and writes where the pools stand. All methods may be called by many
// goroutines.
type Rollouts struct {
	kit     reconcile.Kit
	classes class.Reader

	mu sync.Mutex
	// written is what caches may not show yet; guarded by mu.
	written map[types.UID]note
}

// note is a state that was written at a time, in this version of the pool.
type note struct {
	text    string
	version string
	at      time.Time
}

// lag is for how long a cache may be behind what was written here. After that what it
// shows counts: another writer may have written.
const lag = 30 * time.Second

// New makes one. All that ask and all that write must share it.
func New(kit reconcile.Kit) *Rollouts {
	return &Rollouts{kit: kit, classes: class.From(kit), written: map[types.UID]note{}}
}

// Of is where a pool's roll-out stands by what is written on it, for any goal of
// its nodes.
func Of(pool *karpenterv1.NodePool) State {
	s := read(pool.Annotations[Annotation])
	s.Width = max(s.Width, canary)
	return s
}

// Pace is how many more drifted nodes of a pool may be given up now, with so many of its
// nodes being replaced already. It is for the pool's snapshot.Consolidation; asking costs
// the reading of a node class, so ask for pools that have drifted nodes.
func (r *Rollouts) Pace(ctx context.Context, pool *karpenterv1.NodePool, underway int) *snapshot.Pace {
	state, err := r.Look(ctx, pool)
	if err != nil {
		return &snapshot.Pace{Rollout: reason.Rollout{Pool: pool.Name, Phase: reason.RolloutUnknown, Failures: []string{err.Error()}}}
	}
	pace := state.Pace(pool.Name, underway, r.kit.Clock.Now())
	return &pace
}

// Look is where a pool's roll-out to what its nodes should be now stands.
func (r *Rollouts) Look(ctx context.Context, pool *karpenterv1.NodePool) (State, error) {
	goal, err := r.goal(ctx, pool)
	if err != nil {
		return State{}, err
	}
	return r.known(pool).For(goal, r.kit.Clock.Now()), nil
}

// known is the state that was written last. A pool that is as new as what was written here shows it itself:
// a watch may tell of a write before the writer hears that it has succeeded.
func (r *Rollouts) known(pool *karpenterv1.NodePool) State {
	r.mu.Lock()
	defer r.mu.Unlock()
	last, wrote := r.written[pool.UID]
	if wrote && r.kit.Clock.Since(last.at) <= lag && older(pool.ResourceVersion, last.version) {
		return read(last.text)
	}
	return read(pool.Annotations[Annotation])
}

// older compares two versions of an object. A version that cannot be read is no older one.
func older(version, than string) bool {
	order, err := resourceversion.CompareResourceVersion(version, than)
	return err == nil && order < 0
}

func (r *Rollouts) goal(ctx context.Context, pool *karpenterv1.NodePool) (string, error) {
	made, err := r.classes.Print(ctx, class.Of(pool))
	if err != nil {
		return "", err
	}
	return goalOf(pool, made), nil
}

// Begun notes that a command is about to replace drifted nodes; a command that ends without such a note may
// belong to an older roll-out. It ignores commands for other reasons.
func (r *Rollouts) Begun(ctx context.Context, record command.Record) error {
	return r.each(ctx, record, func(s State, goal string) State { return s.For(goal, record.Begun) })
}

// Ended notes that a command is over; failed is why it was given up, if it was. It is the roll-out's
// failure only if replacements did not come up: other reasons, such as a pod that must not be disrupted,
// say nothing. Call it before the command's marks are removed, and again if that fails: calling it twice
// does no harm.
func (r *Rollouts) Ended(ctx context.Context, record command.Record, failed string) error {
	outcome := Finished{ID: record.ID, Begun: record.Begun, Brought: failed == "" && len(record.Replacements) > 0}
	if record.Reason == plan.Drifted && failed != "" {
		var err error
		if outcome.Failures, err = r.failures(ctx, record, failed); err != nil {
			return err
		}
	}
	now := r.kit.Clock.Now()
	return r.each(ctx, record, func(s State, goal string) State {
		first := now
		if s.Goal == "" {
			first = record.Begun
		}
		return s.For(goal, first).Ended(outcome, now)
	})
}

func (r *Rollouts) each(ctx context.Context, record command.Record, change func(State, string) State) error {
	if record.Reason != plan.Drifted {
		return nil
	}
	for _, pool := range record.Pools() {
		if _, grouped := snapshot.NodeGroup(pool); grouped {
			continue // the hand-over of a group is not paced
		}
		if err := r.change(ctx, pool, change); err != nil {
			return fmt.Errorf("note the roll-out of pool %s: %w", pool, err)
		}
	}
	return nil
}

// Refresh writes down that a pool's roll-out has another goal now, if it has had one.
func (r *Rollouts) Refresh(ctx context.Context, pool *karpenterv1.NodePool) error {
	goal, err := r.goal(ctx, pool)
	if known := r.known(pool).Goal; err != nil || known == "" || known == goal {
		return err
	}
	return r.change(ctx, pool.Name, func(s State, goal string) State {
		if s.Goal == "" {
			return s
		}
		return s.For(goal, r.kit.Clock.Now())
	})
}

// Rest ends the trouble of a pool that has no drifted nodes any more: there is nothing left
// to try, and nothing to warn of.
func (r *Rollouts) Rest(ctx context.Context, pool *karpenterv1.NodePool) error {
	return r.change(ctx, pool.Name, func(s State, goal string) State {
		if s.Goal == "" {
			return s
		}
		return s.For(goal, r.kit.Clock.Now()).Rested(r.kit.Clock.Now())
	})
}

// change reads past the cache: commands may end one right after the other.
func (r *Rollouts) change(ctx context.Context, name string, change func(State, string) State) error {
	return patch.Current(ctx, r.kit, name, func(pool *karpenterv1.NodePool) error {
		goal, err := r.goal(ctx, pool)
		if err != nil {
			return err
		}
		before := pool.Annotations[Annotation]
		after := change(read(before), goal).String()
		if after == before || after == "" {
			return nil
		}
		return r.write(ctx, pool, after)
	})
}

func (r *Rollouts) write(ctx context.Context, pool *karpenterv1.NodePool, text string) error {
	changed := pool.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[Annotation] = text
	if err := patch.IfUnchanged(ctx, r.kit, pool, changed); err != nil {
		return err
	}
	now := r.kit.Clock.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.written, func(_ types.UID, n note) bool { return now.Sub(n.at) > lag })
	r.written[pool.UID] = note{text, changed.ResourceVersion, now}
	return nil
}
