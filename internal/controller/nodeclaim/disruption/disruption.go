// Package disruption says on every claim whether disruption may want it: Drifted, with the
// reason, when the node is no longer what its pool asks for, and Consolidatable when no pod
// has come or gone for as long as the pool says.
//
// Marks are facts, not orders: what becomes of a marked node, and when, is for disruption
// to decide. What cannot be found out is an error or a wait, never a mark.
package disruption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/requirement"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/mark"
	"tenon/internal/market"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/translate"
)

const (
	// period is how often a claim is looked at although nothing has changed: images and
	// catalogues change without an event.
	period = 5 * time.Minute
	// unanswered is how long to wait when a class or its prices cannot be read yet.
	unanswered = time.Minute
)

type marker struct {
	kit    reconcile.Kit
	market *market.Market
	about  cloud.Description
	words  requirement.Vocabulary
	listed *recently
}

// New makes the controller. The market knows what a pool can buy.
func New(kit reconcile.Kit, m *market.Market) reconcile.Controller {
	about := kit.Cloud.Describe()
	c := marker{kit, m, about, about.Vocabulary(), newRecently(listedFor)}
	watches := []reconcile.Watch{
		{Kind: &karpenterv1.NodeClaim{}, Matters: claimMatters},
		{Kind: &karpenterv1.NodePool{}, Keys: c.claimsOf, Matters: poolMatters},
	}
	return reconcile.Controller{
		Name:      "nodeclaim.disruption",
		Watches:   append(watches, class.From(kit).Watches(class.Claims(kit))...),
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Retry:     reconcile.Backoff{First: 100 * time.Millisecond, Longest: time.Minute},
		Yields:    true,
		Reconcile: c.reconcile,
	}
}

func (m marker) claimsOf(ctx context.Context, pool client.Object) []reconcile.Key {
	claims, err := lookup.ClaimsIn(ctx, m.kit.Client, pool.GetName())
	if err != nil {
		reconcile.Log(ctx).Error(err, "finding claims of a pool", "NodePool", pool.GetName())
		return nil
	}
	keys := make([]reconcile.Key, len(claims))
	for i, claim := range claims {
		keys[i] = client.ObjectKeyFromObject(claim)
	}
	return keys
}

func (m marker) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: a claim of ours, and its pool.
	claim := &karpenterv1.NodeClaim{}
	if err := m.kit.Client.Get(ctx, key, claim); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if claim.DeletionTimestamp != nil || !m.about.Supports(translate.ClassOf(claim)) {
		return reconcile.Never, nil
	}
	pool := &karpenterv1.NodePool{}
	name := claim.Labels[karpenterv1.LabelNodePool]
	if name == "" {
		return reconcile.Never, nil // made by hand, for no pool
	}
	if err := m.kit.Client.Get(ctx, client.ObjectKey{Name: name}, pool); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err) // without a pool nothing is said, nor unsaid
	}
	// 2. Decide. One mark does not wait for the other.
	marked := claim.DeepCopy()
	conditions := marked.Conditions(m.kit.Clock.Now())
	result := reconcile.Never
	if wait := mark.Quiet(&conditions, pool, claim, m.kit.Clock.Now()); wait > 0 {
		result = reconcile.In(wait)
	}
	pause, trouble := m.markDrift(ctx, &conditions, pool, claim)
	// 3. Act. What else of the conditions could be put in order is for those who set them:
	// while a node starts they write all the time, and another writer would be in their way.
	marked.Status.Conditions = conditions.List()
	if !remarked(claim, marked) {
		return result.Sooner(pause), trouble
	}
	note(ctx, claim, marked)
	again, err := patch.Status(ctx, m.kit, claim, marked)
	return result.Sooner(pause).Sooner(again), errors.Join(trouble, err)
}

// remarked reports whether a mark came, went, or says something else.
func remarked(before, after *karpenterv1.NodeClaim) bool {
	for _, name := range []string{karpenterv1.ConditionDrifted, karpenterv1.ConditionConsolidatable} {
		was, had := conditionOf(before, name)
		is, has := conditionOf(after, name)
		if had != has || was != is {
			return true
		}
	}
	return false
}

// note tells developers of marks that are new.
func note(ctx context.Context, before, after *karpenterv1.NodeClaim) {
	log := reconcile.Log(ctx).V(1)
	if drifted, _ := conditionOf(after, karpenterv1.ConditionDrifted); drifted.Reason != "" && !meta.IsStatusConditionTrue(before.Status.Conditions, karpenterv1.ConditionDrifted) {
		log.Info("marking drifted", "reason", drifted.Reason)
	}
	if meta.IsStatusConditionTrue(after.Status.Conditions, karpenterv1.ConditionConsolidatable) && !meta.IsStatusConditionTrue(before.Status.Conditions, karpenterv1.ConditionConsolidatable) {
		log.Info("marking consolidatable")
	}
}

// markDrift finds out whether the claim has drifted.
func (m marker) markDrift(ctx context.Context, s *condition.Set, pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim) (reconcile.Result, error) {
	if !meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionLaunched) {
		s.Clear(karpenterv1.ConditionDrifted)
		return reconcile.Never, nil
	}
	reason, err := m.drift(ctx, pool, claim)
	switch {
	case isMomentary(err): // a claim that has drifted still has
		return reconcile.In(unanswered), nil
	case err != nil:
		return reconcile.Never, fmt.Errorf("find out whether claim %s has drifted: %w", claim.Name, err)
	case reason == "":
		s.Clear(karpenterv1.ConditionDrifted)
	default:
		s.SetTrueBecause(karpenterv1.ConditionDrifted, string(reason), string(reason))
	}
	return reconcile.In(period), nil
}

// isMomentary tells troubles that another controller deals with, and that would otherwise be
// retried for every claim of the cluster at once.
func isMomentary(err error) bool {
	_, notReady := errors.AsType[*cloud.ClassNotReady](err)
	_, unevaluated := errors.AsType[*market.Unevaluated](err)
	_, throttled := errors.AsType[*cloud.Throttled](err)
	return notReady || unevaluated || throttled
}

// drift is the first reason that applies.
func (m marker) drift(ctx context.Context, pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim) (cloud.DriftReason, error) {
	if isOfAnotherTemplate(pool, claim) {
		return poolDrifted, nil
	}
	if meets, err := meetsRequirements(m.words, pool, claim); err != nil {
		return "", err
	} else if !meets {
		return requirementsDrifted, nil
	}
	if listed, err := m.isListed(ctx, pool, claim); err != nil {
		return "", err
	} else if !listed {
		return typeNotFound, nil
	}
	return m.ofProvider(ctx, claim)
}

// isListed asks whether the claim's machine is still sold. Young claims are: they were
// just bought, and a catalogue may lag. A machine that was listed is not looked for again
// for a while.
func (m marker) isListed(ctx context.Context, pool *karpenterv1.NodePool, claim *karpenterv1.NodeClaim) (bool, error) {
	now := m.kit.Clock.Now()
	if now.Sub(claim.CreationTimestamp.Time) <= youngFor || m.listed.has(claim.UID, now) {
		return true, nil
	}
	offers, err := m.market.Catalog(ctx, pool)
	if err != nil {
		return false, err
	}
	if !isOffered(claim.Labels, offers, m.about, m.words.WellKnown()) {
		return false, nil
	}
	m.listed.note(claim.UID, now)
	return true, nil
}

// ofProvider is the provider's own reason. An instance that is gone has not drifted.
func (m marker) ofProvider(ctx context.Context, claim *karpenterv1.NodeClaim) (cloud.DriftReason, error) {
	ordered, err := translate.Order(claim, m.words)
	if err != nil {
		return "", err
	}
	reason, err := m.kit.Cloud.Drifted(ctx, ordered, translate.Recall(claim, m.about.ReservationLabel))
	if cloud.IsNotFound(err) {
		return "", nil
	}
	return reason, err
}
