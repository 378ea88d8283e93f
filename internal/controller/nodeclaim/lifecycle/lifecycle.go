// Package lifecycle follows a claim from its creation to its end: an instance is bought
// for it, the node that joins is registered and then initialized, and when the claim is
// deleted, node and instance go before it does.
//
//	            Create                node joins              ready, taints gone
//	(created) ────────▶ Launched ─────────────────▶ Registered ─────────────────▶ Initialized
//	    │ no capacity,     │ not registered             │ not ready                  │
//	    │ 5 min            │ within 15 min              │ for 15 min, or deletion    │ deletion
//	    └───────────┬──────┘                            └──────────────┬─────────────┘
//	                ▼                                                  ▼
//	        instance away, released                  node drained, instance away, released
//
// Nothing is remembered between calls, and nothing relies on caches being up to date. Launching a claim
// twice costs a call and no instance, because the claim's UID is the token of the purchase. Writes carry
// the version that was read. Before an effect that cannot be taken back, the package reads past the cache,
// or writes something that only succeeds on the current object.
//
// The package must not drain (that is the node's finalizer) and must not choose what to
// buy (the claim says it, the provider does it).
package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/requirement"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
	"tenon/internal/translate"
)

type lifecycle struct {
	kit     reconcile.Kit
	tracker *registration.Tracker
	market  Catalogs // may be nil
	places  Places
	// opening is when the nodes of a group began to open, as Unix time; zero if none does.
	opening  atomic.Int64
	parallel int // how many nodes are opened at the same time
	about    cloud.Description
	words    requirement.Vocabulary
	bought   bought
}

// New makes the controller. The tracker learns how launches and registrations end.
func New(kit reconcile.Kit, tracker *registration.Tracker) reconcile.Controller {
	return At(kit, tracker, nil, nil, false)
}

// Places knows the pods that have places on nodes, and tells them before a node opens.
type Places interface {
	// Wanted reports whether pods have to be told before the node of a claim opens.
	Wanted(claim string) bool
	// Prepare tells them, and returns how much longer the node is to stay closed, and the nodes that open together
	// with it, by claim.
	Prepare(ctx context.Context, claim, node string) (closed time.Duration, together map[string]string)
	// NextToOpen returns the claims of the nodes that are to open next, of nodes that open together and of which some are closed
	// still. It returns at least one.
	NextToOpen(ctx context.Context, together, closed map[string]string) []string
	// Repeat tells once more those pods of a node that is about to open that are no longer told.
	Repeat(ctx context.Context, claim, node string)
	// Opened is called when the node has opened.
	Opened(claim string)
}

// At makes the controller for claims that are bought from a market, as the decision saw it. Without a
// market the provider's own catalogue counts, and without places nodes open as soon as they have joined. Those of a
// group open one after the other, or in parallel.
func At(kit reconcile.Kit, tracker *registration.Tracker, market Catalogs, places Places, parallel bool) reconcile.Controller {
	about := kit.Cloud.Describe().WithDefaults()
	l := &lifecycle{kit: kit, tracker: tracker, market: market, places: places, parallel: 1, about: about, words: about.Vocabulary()}
	if parallel {
		l.parallel = sideBySide
	}
	return reconcile.Controller{
		Name: "nodeclaim.lifecycle",
		Watches: []reconcile.Watch{
			{Kind: &karpenterv1.NodeClaim{}, Matters: claimMatters},
			{Kind: &corev1.Node{}, Keys: l.waitingFor},
			{Kind: &karpenterv1.NodeClaim{}, Matters: launchedNow, Keys: l.rejectedBeside},
		},
		Workers:   reconcile.Workers{Min: 300, Max: 5000},
		Retry:     reconcile.Backoff{First: time.Second, Longest: time.Minute},
		Reconcile: l.reconcile,
	}
}

// claimMatters leaves out what other controllers write on claims in service (marks, verdicts and times of
// pods): there is nothing to do until the claim is deleted. A claim that is starting is looked at after
// every change, so that it goes on at once after a conflict.
func claimMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	a, b := old.(*karpenterv1.NodeClaim), changed.(*karpenterv1.NodeClaim)
	return !inService(a) || !inService(b) || a.Generation != b.Generation || a.Status.ProviderID != b.Status.ProviderID ||
		!slices.Equal(a.Finalizers, b.Finalizers) || !sameStage(a, b)
}

func inService(claim *karpenterv1.NodeClaim) bool {
	return claim.DeletionTimestamp == nil && meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInitialized)
}

// sameStage compares the conditions that are ours, and the one that follows from them.
func sameStage(a, b *karpenterv1.NodeClaim) bool {
	kind := karpenterv1.NodeClaimConditions()
	for _, name := range append(slices.Clone(kind.Dependents), kind.Root) {
		was, is := meta.FindStatusCondition(a.Status.Conditions, name), meta.FindStatusCondition(b.Status.Conditions, name)
		if (was == nil) != (is == nil) || was != nil && *was != *is {
			return false
		}
	}
	return true
}

// waitingFor finds the claims that care for a change of a node: those that wait for it to
// join or to go. Nodes change all the time, and to most claims it makes no difference.
func (l *lifecycle) waitingFor(ctx context.Context, object client.Object) []reconcile.Key {
	claims, err := lookup.ClaimsOf(ctx, l.kit.Client, object.(*corev1.Node).Spec.ProviderID)
	if err != nil {
		reconcile.Log(ctx).Error(err, "finding claims of a node", "Node", object.GetName())
		return nil
	}
	var keys []reconcile.Key
	for _, claim := range claims {
		if claim.DeletionTimestamp != nil || !meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInitialized) {
			keys = append(keys, client.ObjectKeyFromObject(claim))
		}
	}
	return keys
}

func (l *lifecycle) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	claim := &karpenterv1.NodeClaim{}
	if err := l.kit.Client.Get(ctx, key, claim); err != nil {
		l.bought.forget(key.Name)
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !l.about.Supports(translate.ClassOf(claim)) {
		return reconcile.Never, nil
	}
	result, err := l.step(ctx, claim)
	if err != nil {
		return patch.LookAgain(err)
	}
	return result, nil
}

func (l *lifecycle) step(ctx context.Context, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	if claim.DeletionTimestamp != nil {
		return l.finalize(ctx, claim)
	}
	proven, err := l.protect(ctx, claim)
	if err != nil {
		return reconcile.Never, err
	}
	launching, err := l.launch(ctx, claim, proven)
	if err != nil || launching.over {
		return l.orTooLate(ctx, claim, launching.result, err)
	}
	following, err := l.follow(ctx, claim)
	return l.orTooLate(ctx, claim, launching.result.Sooner(following), err)
}

// protect puts our finalizer on a claim that was made without it, by hand. Nothing is bought before that, and
// afterwards the claim cannot disappear while its instance exists. The write also proves that the claim exists now
// and is not being deleted.
func (l *lifecycle) protect(ctx context.Context, claim *karpenterv1.NodeClaim) (proven bool, err error) {
	before := claim.DeepCopy()
	if !controllerutil.AddFinalizer(claim, karpenterv1.FinalizerTermination) {
		return false, nil
	}
	if err := l.save(ctx, before, claim); err != nil {
		return false, fmt.Errorf("add the finalizer to claim %s: %w", claim.Name, err)
	}
	return true, nil
}

// follow brings a claim from its instance to its initialized node, as far as it gets.
func (l *lifecycle) follow(ctx context.Context, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	before := claim.DeepCopy()
	conditions := claim.Conditions(l.kit.Clock.Now())
	result, trouble := l.advance(ctx, claim, &conditions)
	claim.Status.Conditions = conditions.List()
	if err := l.save(ctx, before, claim); err != nil {
		return result, errors.Join(trouble, fmt.Errorf("write claim %s: %w", claim.Name, err))
	}
	l.announce(ctx, claim, before.Conditions(l.kit.Clock.Now()), conditions)
	return result, trouble
}
