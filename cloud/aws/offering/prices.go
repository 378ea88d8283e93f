package offering

import (
	"maps"
	"sync"

	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// PriceList shows the latest prices. It may be used by many goroutines.
type PriceList struct {
	region string

	mu     sync.Mutex
	prices *Prices
}

// NewPriceList shows the built-in prices of a region.
func NewPriceList(region string) *PriceList {
	return &PriceList{region: region, prices: &Prices{revision: 1, onDemand: facts.PricesFor(region).Hourly}}
}

// Prices are those of now.
func (l *PriceList) Prices() *Prices {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.prices
}

// change publishes new prices if they differ.
func (l *PriceList) change(how func(old Prices) Prices) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.prices
	changed := how(*old)
	if maps.Equal(old.onDemand, changed.onDemand) && maps.Equal(old.spot, changed.spot) {
		return
	}
	changed.revision = old.revision + 1
	l.prices = &changed
}

// Prices are the prices at one time. They do not change.
type Prices struct {
	revision uint64
	onDemand map[string]model.Money
	// spot is nil as long as EC2 has not told any.
	spot map[spotPool]model.Money
}

// spotPool is where spot instances of a type come from.
type spotPool struct{ instanceType, zone string }

// Revision is another number for other prices.
func (p *Prices) Revision() uint64 { return p.revision }

// OnDemand is what an instance of a type costs an hour.
func (p *Prices) OnDemand(instanceType string) (model.Money, bool) {
	price, known := p.onDemand[instanceType]
	return price, known
}

// Spot returns the hourly price of a spot instance of a type in a zone. Until EC2 has listed spot prices,
// Spot returns the on-demand price, so that the planner never chooses spot for a price that EC2 did not
// offer; afterwards, pools that EC2 did not list cannot be bought.
func (p *Prices) Spot(instanceType, zone string) (model.Money, bool) {
	if p.spot == nil {
		return p.OnDemand(instanceType)
	}
	price, known := p.spot[spotPool{instanceType, zone}]
	return price, known
}
