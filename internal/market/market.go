// Package market says what a pool can buy: the provider's catalogue, with the active NodeOverlays
// applied. All code that looks at prices or capacities of a pool asks here, so that a decision, the
// purchase for it and the judgement of running nodes agree.
//
//	provider ──Catalog──▶ ┌────────┐ ──Catalog──▶ decisions, purchases, drift
//	overlays' controller  │ Market │
//	        ──Adopt─────▶ └────────┘ ──Subscribe▶ who wants to decide anew
//
// Overlays are judged by their own controller, for all pools together; until a pool was
// part of such a judgement nothing can be bought for it, because it might be at the wrong
// price. The package must not read or write objects, and judges nothing itself.
package market

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	karpenterv1alpha1 "tenon/api/karpenter/v1alpha1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/class"
)

// Market knows what each pool can buy. All methods may be called concurrently.
type Market struct {
	provider cloud.CatalogReader
	words    requirement.Vocabulary
	overlaid bool

	mu         sync.Mutex
	evaluation *evaluation                      // guarded by mu; nil until the first
	byClass    map[cloud.ClassRef]classCatalogs // guarded by mu
	wake       []func()                         // guarded by mu
}

// classCatalogs holds the catalogues of the pools of one class. They are made from one catalogue of
// the provider under one evaluation of the overlays; when either changes they are made again.
type classCatalogs struct {
	base       *catalog.Catalog
	evaluation *evaluation
	// byPool makes them, once: a thousand launches may ask at the same time.
	byPool func() map[types.UID]*catalog.Catalog
}

// New makes a market. Without overlays it has the provider's catalogues unchanged.
func New(provider cloud.Provider, overlays bool) *Market {
	return &Market{provider: provider, words: provider.Describe().Vocabulary(), overlaid: overlays, byClass: map[cloud.ClassRef]classCatalogs{}}
}

// Unevaluated is the error for a pool for which the overlays have not been judged yet. That takes only
// moments.
type Unevaluated struct{ Pool string }

// Error returns the text that users of the API know.
func (e *Unevaluated) Error() string {
	return fmt.Sprintf("nodepool %q is awaiting evaluation", e.Pool)
}

// Catalog is what the pool can buy. While nothing changes the same pointer is returned, and pools
// of a class that can buy the same offerings at the same prices share it. It must not be changed.
func (m *Market) Catalog(ctx context.Context, pool *karpenterv1.NodePool) (*catalog.Catalog, error) {
	ref := class.Of(pool)
	base, err := m.provider.Catalog(ctx, ref)
	if err != nil || !m.overlaid {
		return base, err
	}
	on := m.catalogsOf(ref, base)
	switch {
	case !on.evaluation.knows(pool.UID, ref):
		return nil, &Unevaluated{pool.Name}
	case len(on.evaluation.overlays) == 0:
		return base, nil
	}
	return on.byPool()[pool.UID], nil
}

// catalogsOf finds the last catalogues of a class, if they are still valid.
func (m *Market) catalogsOf(ref cloud.ClassRef, base *catalog.Catalog) classCatalogs {
	m.mu.Lock()
	defer m.mu.Unlock()
	on := m.byClass[ref]
	if v := m.evaluation; on.base != base || on.evaluation != v {
		on = classCatalogs{base, v, sync.OnceValue(func() map[types.UID]*catalog.Catalog { return v.apply(m.words, ref, base) })}
		m.byClass[ref] = on
	}
	return on
}

// Adopt makes a judgement effective: the overlays that are in use, and the pools that were judged. Other
// pools wait for their judgement. An unchanged judgement has no effect.
func (m *Market) Adopt(overlays []*karpenterv1alpha1.NodeOverlay, pools []*karpenterv1.NodePool) {
	for _, wake := range m.adopt(newEvaluation(overlays, pools)) {
		wake() // outside of the lock: the function may do anything
	}
}

func (m *Market) adopt(v *evaluation) []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.evaluation != nil && m.evaluation.identity == v.identity {
		return nil
	}
	m.evaluation = v
	clear(m.byClass)
	return slices.Clone(m.wake)
}

// Subscribe registers wake to be called when prices or capacities may have changed because of
// overlays. It must return at once.
func (m *Market) Subscribe(wake func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wake = append(m.wake, wake)
}
