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
	known  map[types.UID]*catalog.Catalog // the last ones, by pool
}

// NewSupply makes a Supply. Failures counts the nodes of pools that do not join; nil means none.
func NewSupply(clock clock.PassiveClock, market Catalogs, failures Failures) *Supply {
	return &Supply{clock: clock, market: market, pauses: pauses{failures, map[types.UID]pause{}}, known: map[types.UID]*catalog.Catalog{}}
}

// Of returns what each of the pools can buy. A pool whose catalogue cannot be read now stays in the answer with the
// reason, and with the last catalogue: nothing is bought from it, but it says what claims may become and what nodes
// cost. Otherwise, claims without an instance would count for less of a limit while the cloud does not answer.
func (s *Supply) Of(ctx context.Context, pools []*karpenterv1.NodePool) map[string]world.Sale {
	sales, known := make(map[string]world.Sale, len(pools)), make(map[types.UID]*catalog.Catalog, len(pools))
	for _, pool := range pools {
		offers, err := s.market.Catalog(ctx, pool)
		if err == nil {
			err = s.Pause(pool)
		} else {
			offers = s.last(pool)
		}
		if offers != nil {
			known[pool.UID] = offers
		}
		sales[pool.Name] = world.Sale{Catalog: offers, Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = known
	return sales
}

func (s *Supply) last(pool *karpenterv1.NodePool) *catalog.Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[pool.UID]
}

// Pause says why nothing is bought for a pool now, because its nodes do not join; nil if it is not
// paused.
func (s *Supply) Pause(pool *karpenterv1.NodePool) error {
	now := s.clock.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pauses.check(pool.UID, now)
}
