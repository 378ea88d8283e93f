package pricing

import (
	"maps"
	"sync"

	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// List shows the latest prices. It may be used by many goroutines.
type List struct {
	region string

	mu     sync.Mutex
	prices *Prices
}

// New shows the built-in prices of a region.
func New(region string) *List {
	return &List{region: region, prices: &Prices{revision: 1, onDemand: facts.PricesFor(region).Hourly}}
}

// Prices are those of now.
func (b *List) Prices() *Prices {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.prices
}

// change shows other prices if they differ.
func (b *List) change(how func(old Prices) Prices) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.prices
	changed := how(*old)
	if maps.Equal(old.onDemand, changed.onDemand) && maps.Equal(old.spot, changed.spot) {
		return
	}
	changed.revision = old.revision + 1
	b.prices = &changed
}

// Prices are the prices at one time. They do not change.
type Prices struct {
	revision uint64
	onDemand map[string]model.Money
	// spot is nil as long as EC2 has not told any.
	spot map[pool]model.Money
}

// pool is where spot instances of a type come from.
type pool struct{ instanceType, zone string }

// Revision is another number for other prices.
func (p *Prices) Revision() uint64 { return p.revision }

// OnDemand is what an instance of a type costs an hour.
func (p *Prices) OnDemand(instanceType string) (model.Money, bool) {
	price, known := p.onDemand[instanceType]
	return price, known
}

// Spot is what a spot instance of a type costs an hour in a zone. Until EC2 has told spot
// prices it is taken to cost as much as on demand, so that it is never chosen for a price
// that EC2 did not offer; afterwards what EC2 did not list cannot be bought.
func (p *Prices) Spot(instanceType, zone string) (model.Money, bool) {
	if p.spot == nil {
		return p.OnDemand(instanceType)
	}
	price, known := p.spot[pool{instanceType, zone}]
	return price, known
}
