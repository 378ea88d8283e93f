package market

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/catalog"
	"tenon/internal/world"
)

// Catalogs returns the catalogue of a pool's class.
type Catalogs interface {
	Catalog(ctx context.Context, pool *karpenterv1.NodePool) (*catalog.Catalog, error)
}

// Supply is what each pool can buy now.
type Supply struct {
	clock  clock.PassiveClock
	market Catalogs

	mu     sync.Mutex
	pauses pauses
}

// NewSupply makes a Supply. Failures counts the nodes of pools that do not join; nil means none.
func NewSupply(clock clock.PassiveClock, market Catalogs, failures Failures) *Supply {
	return &Supply{clock: clock, market: market, pauses: pauses{failures, map[types.UID]pause{}}}
}

// Of returns what each of the pools can buy. A pool without a catalogue stays in the answer, with
// the reason.
func (s *Supply) Of(ctx context.Context, pools []*karpenterv1.NodePool) map[string]world.Sale {
	sales := make(map[string]world.Sale, len(pools))
	for _, pool := range pools {
		offers, err := s.market.Catalog(ctx, pool)
		if err == nil {
			err = s.Pause(pool)
		}
		sales[pool.Name] = world.Sale{Catalog: offers, Err: err}
	}
	return sales
}

// Pause says why nothing is bought for a pool now, because its nodes do not join; nil if it is not
// paused.
func (s *Supply) Pause(pool *karpenterv1.NodePool) error {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pauses.check(pool.UID, now)
}
