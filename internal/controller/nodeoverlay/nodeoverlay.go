// Package nodeoverlay judges all NodeOverlays against all pools: which of them make sense, and which
// contradict another. The result is written on the overlays first, and then takes effect in the market, all
// at once: no purchase sees half of a change.
//
// The package must not apply overlays to anything: the market does.
package nodeoverlay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/cloud"
	"tenon/core/requirement"
	"tenon/internal/class"
	"tenon/internal/ingest"
	"tenon/internal/market"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

const (
	// period is how often everything is judged although nothing has changed: new types
	// may bring overlays into conflict.
	period = 6 * time.Hour
	// soon is when to look again at pools whose catalogue could not be read: until they
	// were judged nothing is bought for them.
	soon = 30 * time.Second
)

// all is the one key: overlays are judged together.
var all = reconcile.Key{Name: "all"}

type judge struct {
	kit    reconcile.Kit
	market *market.Market
	about  cloud.Description
	words  requirement.Vocabulary
}

// New makes the controller, if the gate NodeOverlay is open; otherwise there is none.
func New(kit reconcile.Kit, m *market.Market) []reconcile.Controller {
	if !kit.Settings.FeatureGates.NodeOverlay {
		return nil
	}
	about := kit.Cloud.Describe()
	j := judge{kit, m, about, about.Vocabulary()}
	everything := func(context.Context, client.Object) []reconcile.Key { return []reconcile.Key{all} }
	watches := []reconcile.Watch{
		{Kind: &karpenterv1alpha1.NodeOverlay{}, Keys: everything, Matters: edited},
		{Kind: &karpenterv1.NodePool{}, Keys: everything, Matters: edited},
	}
	watches = append(watches, class.From(kit).Watches(func(context.Context, karpenterv1.NodeClassReference) []reconcile.Key {
		return []reconcile.Key{all}
	})...)
	return []reconcile.Controller{{
		Name:      "nodeoverlay.controller",
		Watches:   watches,
		Workers:   reconcile.One,
		Retry:     reconcile.Backoff{First: time.Second, Longest: time.Minute},
		Reconcile: j.reconcile,
	}}
}

// edited: the spec has changed, or the object came or went.
func edited(old, changed client.Object) bool {
	return old == nil || changed == nil || old.GetGeneration() != changed.GetGeneration()
}

func (j judge) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: the overlays, and the pools with what the provider sells them.
	overlays, err := j.overlays(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	pools, offers, missing, err := j.pools(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	// 2. Decide.
	_, refused := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{Vocabulary: j.words}).Overlay(overlays, offers)
	// 3. Act: write the result, and only then let it take effect.
	again, err := j.tell(ctx, overlays, refused)
	if err != nil || again.After != 0 {
		return again, err
	}
	j.market.Adopt(accepted(overlays, refused), pools)
	if missing {
		return reconcile.In(soon), nil
	}
	return reconcile.In(period), nil
}

func (j judge) overlays(ctx context.Context) ([]*karpenterv1alpha1.NodeOverlay, error) {
	var list karpenterv1alpha1.NodeOverlayList
	if err := j.kit.Client.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list overlays: %w", err)
	}
	var out []*karpenterv1alpha1.NodeOverlay
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			out = append(out, &list.Items[i])
		}
	}
	return out, nil
}

// pools are those of ours whose catalogue can be read. The others await their evaluation;
// missing says that there are some.
func (j judge) pools(ctx context.Context) (pools []*karpenterv1.NodePool, offers []ingest.PoolOffers, missing bool, err error) {
	var list karpenterv1.NodePoolList
	if err := j.kit.Client.List(ctx, &list); err != nil {
		return nil, nil, false, fmt.Errorf("list pools: %w", err)
	}
	translator := ingest.NewTranslator(ingest.NewIndex(), ingest.Options{Vocabulary: j.words})
	for i := range list.Items {
		pool := &list.Items[i]
		ref := class.Of(pool)
		if pool.DeletionTimestamp != nil || !j.about.Supports(ref) {
			continue
		}
		sold, err := j.kit.Cloud.Catalog(ctx, ref)
		if err != nil {
			reconcile.Log(ctx).V(1).Info("pool cannot be evaluated yet", "NodePool", pool.Name, "err", err.Error())
			missing = true
			continue
		}
		translated := translator.Pool(pool)
		pools, offers = append(pools, pool), append(offers, ingest.PoolOffers{Pool: &translated, Offers: sold})
	}
	return pools, offers, missing, nil
}

// tell writes the verdicts on the overlays.
func (j judge) tell(ctx context.Context, overlays []*karpenterv1alpha1.NodeOverlay, refused map[string]error) (reconcile.Result, error) {
	var result reconcile.Result
	var troubles []error
	for _, o := range overlays {
		told := o.DeepCopy()
		conditions := told.Conditions(j.kit.Clock.Now())
		switch err := refused[o.Name]; {
		case err == nil:
			conditions.SetTrue(karpenterv1alpha1.ConditionValidationSucceeded)
		case errors.Is(err, ingest.ErrOverlayConflict):
			conditions.SetFalse(karpenterv1alpha1.ConditionValidationSucceeded, "Conflict", err.Error())
		default:
			conditions.SetFalse(karpenterv1alpha1.ConditionValidationSucceeded, "RuntimeValidation", err.Error())
		}
		told.Status.Conditions = conditions.List()
		again, err := patch.Status(ctx, j.kit, o, told)
		result, troubles = result.Sooner(again), append(troubles, err)
	}
	return result, errors.Join(troubles...)
}

func accepted(overlays []*karpenterv1alpha1.NodeOverlay, refused map[string]error) []*karpenterv1alpha1.NodeOverlay {
	var out []*karpenterv1alpha1.NodeOverlay
	for _, o := range overlays {
		if refused[o.Name] == nil {
			out = append(out, o)
		}
	}
	return out
}
