// Package market says what EC2 sells in a region, where, and at which price: a function of a seed, the
// built-in facts and the time. It keeps no state, so it can answer for the past as well as the present.
package market

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"tenon/cloud/aws/facts"
	"tenon/core/model"
	"tenon/lab/aws/random"
)

// Epoch is how long a spot price and the depth of a pool stay the same.
const Epoch = 20 * time.Minute

// Market is the market of one region.
type Market struct {
	seed   random.Seed
	region string
	zones  []string
	list   facts.Prices
	types  []facts.Type
	byName map[string]int
}

// Price is a spot price with the moment from which it holds.
type Price struct {
	Type, Zone string
	Price      model.Money
	Since      time.Time
}

// New returns the market of a region with the given zones, besides local ones.
func New(seed random.Seed, region string, zones []string) *Market {
	m := &Market{seed: seed, region: region, zones: zones, list: facts.PricesFor(region), byName: map[string]int{}}
	for _, t := range facts.Types() {
		// The market does not sell types without facts, nor Macs, on which no node runs.
		if t.VCPUs.Or(0) > 0 && t.MemoryMiB.Or(0) > 0 && t.Architecture != "" {
			m.byName[t.Name] = len(m.types)
			m.types = append(m.types, t)
		}
	}
	return m
}

// Types returns all types that are sold, in the order of families and sizes. The slice is shared.
func (m *Market) Types() []facts.Type { return m.types }

// Currency returns the currency of the prices.
func (m *Market) Currency() string { return m.list.Currency }

// Type finds a type by its name.
func (m *Market) Type(name string) (facts.Type, bool) {
	i, ok := m.byName[name]
	if !ok {
		return facts.Type{}, false
	}
	return m.types[i], true
}

// localFamilies are sold in local zones, which have few.
var localFamilies = []string{"c5", "c5d", "g4dn", "i3en", "m5", "m5d", "r5", "r5d", "t3"}

// Offered reports whether a zone has a type. Ordinary families are everywhere but in local zones; types with a GPU, an
// accelerator or bare metal are missing in some zones, never in all.
func (m *Market) Offered(t facts.Type, zone string) bool {
	if !slices.Contains(m.zones, zone) {
		return slices.Contains(localFamilies, t.Family)
	}
	scarce := t.GPU != "" || t.GPUs.Or(0) > 0 || t.Accelerator != "" || t.BareMetal
	if !scarce {
		return true
	}
	home := m.zones[m.seed.Number("home", m.region, t.Family)%uint64(len(m.zones))]
	return zone == home || m.seed.Share("offered", m.region, t.Family, zone) < 0.6
}

// OnDemand returns the price of an hour; false if it is not known.
func (m *Market) OnDemand(name string) (model.Money, bool) {
	price, ok := m.list.Hourly[name]
	return price, ok
}

// Spot returns the price at a moment, and since when it holds. A type without an on-demand price has
// none.
func (m *Market) Spot(name, zone string, at time.Time) (Price, bool) {
	full, ok := m.OnDemand(name)
	if !ok {
		return Price{}, false
	}
	epoch := at.UnixNano() / int64(Epoch)
	now := m.discounted(full, name, zone, epoch)
	return Price{Type: name, Zone: zone, Price: now, Since: time.Unix(0, epoch*int64(Epoch)).UTC()}, true
}

// History returns the price in force at the start, and those that followed until the end, the newest
// first as EC2 has it.
func (m *Market) History(name, zone string, start, end time.Time) []Price {
	var prices []Price
	for at := end; ; at = at.Add(-Epoch) {
		p, ok := m.Spot(name, zone, at)
		if !ok {
			return nil
		}
		prices = append(prices, p)
		if !p.Since.After(start) {
			return prices
		}
	}
}

// discounted returns a share of the on-demand price: a fixed share for the family and the zone, with a
// slow wave and some noise.
func (m *Market) discounted(full model.Money, name, zone string, epoch int64) model.Money {
	usual := m.seed.Between(0.25, 0.65, "usual", m.region, name, zone)
	phase := m.seed.Between(0, 2*math.Pi, "phase", m.region, name, zone)
	days := float64(epoch) * Epoch.Hours() / 24
	unrest := m.seed.Between(-0.03, 0.03, "unrest", name, zone, strconv.FormatInt(epoch, 10))
	share := min(1, max(0.1, usual+0.08*math.Sin(2*math.Pi*days/3+phase)+unrest))
	// EC2 gives spot prices in hundredths of a cent.
	return max(100, model.Money(float64(full)*share/100)*100)
}

// Depth returns how much spot capacity a pool has, from 0 to 1, which also says how unlikely an
// interruption is.
func (m *Market) Depth(name, zone string, at time.Time) float64 {
	epoch := strconv.FormatInt(at.UnixNano()/int64(6*Epoch), 10)
	usual := m.seed.Between(0.2, 1, "depth", m.region, name, zone)
	return min(1, max(0, usual+m.seed.Between(-0.2, 0.2, "ebb", name, zone, epoch)))
}

// Decimal writes money as EC2 writes prices.
func Decimal(price model.Money) string {
	return fmt.Sprintf("%d.%06d", price/model.Unit, price%model.Unit)
}
