// Package rollout shows on every pool whether its roll-out is paused, and why: the condition
// RolloutPaused and an event. It notices that a pool or its node class asks for something
// else, which begins the roll-out anew, and that there is nothing left to roll out.
//
// How fast a roll-out goes is decided in internal/rolloutpace, and what is disrupted elsewhere;
// this controller only writes down what follows from that.
package rollout

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/rolloutpace"
	"tenon/internal/telemetry"
)

// The events of a pool.
const (
	eventPaused  = "RolloutPaused"
	eventResumed = "RolloutResumed"
)

// period is how often to look whether there are drifted nodes left while one is tried.
const period = time.Minute

type pacing struct {
	kit      reconcile.Kit
	about    cloud.Description
	rollouts *rolloutpace.Rollouts
}

// New makes the controller. The roll-outs are shared with the controller that begins disruptions.
func New(kit reconcile.Kit, rollouts *rolloutpace.Rollouts) reconcile.Controller {
	p := pacing{kit, kit.Cloud.Describe(), rollouts}
	return reconcile.Controller{
		Name: "nodepool.rollout",
		Watches: append([]reconcile.Watch{{Kind: &karpenterv1.NodePool{}, Matters: matters}},
			class.From(kit).Watches(class.Pools(kit))...),
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Reconcile: p.reconcile,
	}
}

// matters: the template was edited, the roll-out has gone on, or the condition has changed.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	a, b := old.(*karpenterv1.NodePool), changed.(*karpenterv1.NodePool)
	return a.Generation != b.Generation || a.Annotations[rolloutpace.Annotation] != b.Annotations[rolloutpace.Annotation] || shown(a) != shown(b)
}

// shown is the condition; its type is empty if there is none.
func shown(pool *karpenterv1.NodePool) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(pool.Status.Conditions, karpenterv1.ConditionRolloutPaused), metav1.Condition{})
}

func (p pacing) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: a pool of ours that has had a roll-out.
	pool := &karpenterv1.NodePool{}
	if err := p.kit.Client.Get(ctx, key, pool); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !p.about.Supports(class.Of(pool)) || pool.Annotations[rolloutpace.Annotation] == "" && shown(pool).Type == "" {
		return reconcile.Never, nil
	}
	// 2. Keep the state up to date. If that writes, nothing is shown now: the write wakes the controller
	// again.
	if err := p.settle(ctx, pool); err != nil {
		return reconcile.Never, err
	}
	state, err := p.rollouts.Look(ctx, pool)
	if err != nil {
		return reconcile.Never, err
	}
	// 3. Show it.
	return p.next(state), p.show(ctx, pool, state)
}

// settle records what became of the goal, and ends a roll-out that has nothing left to do.
func (p pacing) settle(ctx context.Context, pool *karpenterv1.NodePool) error {
	state, err := p.rollouts.Look(ctx, pool)
	if err != nil {
		return err
	}
	if state.Pause == nil || state.Paused(p.kit.Clock.Now()) {
		return p.rollouts.Refresh(ctx, pool)
	}
	claims, err := lookup.ClaimsIn(ctx, p.kit.Client, pool.Name)
	if err != nil || slices.ContainsFunc(claims, drifted) {
		return err
	}
	return p.rollouts.Rest(ctx, pool)
}

func drifted(claim *karpenterv1.NodeClaim) bool {
	return slices.ContainsFunc(claim.Status.Conditions, func(c metav1.Condition) bool {
		return c.Type == karpenterv1.ConditionDrifted && c.Status == metav1.ConditionTrue
	})
}

// show says on the pool whether its roll-out is paused. The pool's counts change all the time: a cache
// that is behind must not have the write refused again and again.
func (p pacing) show(ctx context.Context, pool *karpenterv1.NodePool, state rolloutpace.State) error {
	return client.IgnoreNotFound(patch.Retry(ctx, p.kit, pool, func(pool *karpenterv1.NodePool) error {
		return p.mark(ctx, pool, state)
	}))
}

func (p pacing) mark(ctx context.Context, pool *karpenterv1.NodePool, state rolloutpace.State) error {
	marked := pool.DeepCopy()
	conditions := marked.Conditions(p.kit.Clock.Now())
	reason, message := state.Condition(p.kit.Clock.Now())
	changed := false
	if reason == "" {
		changed = conditions.Clear(karpenterv1.ConditionRolloutPaused)
	} else {
		changed = conditions.SetTrueBecause(karpenterv1.ConditionRolloutPaused, reason, message)
	}
	if !changed {
		return nil
	}
	marked.Status.Conditions = conditions.List()
	if err := patch.StatusIfUnchanged(ctx, p.kit, pool, marked); err != nil {
		return fmt.Errorf("write the status of pool %s: %w", pool.Name, err)
	}
	switch {
	case reason == "":
		p.kit.Events.Publish(telemetry.Normal(pool, eventResumed, "Drifted nodes are replaced again"))
	case reason == rolloutpace.ReplacementsFailed:
		p.kit.Events.Publish(telemetry.Warning(pool, eventPaused, message))
	}
	return nil
}

// next is when something changes by itself.
func (p pacing) next(state rolloutpace.State) reconcile.Result {
	now := p.kit.Clock.Now()
	switch {
	case state.Pause == nil:
		return reconcile.Never
	case state.Paused(now):
		return reconcile.In(state.Pause.Until.Sub(now))
	}
	return reconcile.In(period)
}
