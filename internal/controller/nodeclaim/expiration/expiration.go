// Package expiration deletes claims at the end of the life that their pool gave them.
// Nothing is asked and nothing replaced beforehand: how gently the node goes is the
// business of node.termination.
package expiration

import (
	"context"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/translate"
)

// pace is the time between two expirations, so that nodes which were made together do not
// all go in the same moment. The reference sleeps; here the next claim comes back later.
const pace = time.Second

type expiration struct {
	kit   reconcile.Kit
	about cloud.Description

	mu   sync.Mutex
	last time.Time // of the last expiration; guarded by mu
}

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	e := &expiration{kit: kit, about: kit.Cloud.Describe()}
	return reconcile.Controller{
		Name:      "nodeclaim.expiration",
		Watches:   []reconcile.Watch{{Kind: &karpenterv1.NodeClaim{}, Matters: isNew}},
		Workers:   reconcile.One,
		Reconcile: e.reconcile,
	}
}

// isNew lets through claims that appear: when a claim expires never changes.
func isNew(old, _ client.Object) bool { return old == nil }

func (e *expiration) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	claim := &karpenterv1.NodeClaim{}
	if err := e.kit.Client.Get(ctx, key, claim); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if claim.DeletionTimestamp != nil || !e.about.Supports(translate.ClassOf(claim)) {
		return reconcile.Never, nil
	}
	now := e.kit.Clock.Now()
	left, expires := remaining(claim, now)
	switch {
	case !expires:
		return reconcile.Never, nil
	case left > 0:
		return reconcile.In(left), nil
	}
	if wait := e.turn(now); wait > 0 {
		return reconcile.In(wait), nil
	}
	return e.expire(ctx, claim)
}

// remaining is what is left of the claim's life, if it ends.
func remaining(claim *karpenterv1.NodeClaim, now time.Time) (time.Duration, bool) {
	life := claim.Spec.ExpireAfter.Duration
	if life == nil {
		return 0, false
	}
	return claim.CreationTimestamp.Add(*life).Sub(now), true
}

// turn is how long a claim has to wait because of the one before it. Nothing depends on
// its being remembered: after a restart one claim more goes at once.
func (e *expiration) turn(now time.Time) time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if wait := e.last.Add(pace).Sub(now); wait > 0 {
		return wait
	}
	e.last = now
	return 0
}

func (e *expiration) expire(ctx context.Context, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	deleted, err := removal.Delete(ctx, e.kit, claim, removal.Expired)
	if patch.Outdated(err) { // the claim has changed, not its age
		return reconcile.In(pace), nil
	}
	if deleted {
		reconcile.Log(ctx).V(1).Info("deleting expired nodeclaim")
	}
	return reconcile.Never, err
}
