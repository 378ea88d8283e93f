package sim

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/model"
)

// shorten makes an offering unavailable for a while, or all offerings of a type, of a zone, or of spot in a
// zone.
func (s *Sim) shorten(dice *rand.Rand) {
	t := &s.catalog.Types[dice.IntN(len(s.catalog.Types))]
	o := &t.Offerings[dice.IntN(len(t.Offerings))]
	wide := dice.IntN(8)
	short := s.offers(func(kind *catalog.Type, other *catalog.Offering) bool {
		switch wide {
		case 0:
			return other.Zone == o.Zone
		case 1:
			return other.Zone == o.Zone && other.CapacityType == catalog.Spot
		case 2, 3:
			return kind.Name == t.Name
		}
		return kind.Name == t.Name && other.Zone == o.Zone && other.CapacityType == o.CapacityType
	})
	for _, offer := range short {
		s.Cloud.SetStock(offer, dice.IntN(3)/2) // mostly none, here and there a last one
	}
	s.outside(s.Clock.Now().Add(time.Duration(dice.Int64N(int64(time.Hour)))), "stock", func() {
		s.watch.Stir()
		for _, offer := range short {
			s.Cloud.SetStock(offer, memory.Unlimited)
		}
	})
}

// offers are the matching offers of the catalogue, without reservations, which end anyway.
func (s *Sim) offers(asked func(*catalog.Type, *catalog.Offering) bool) []cloud.Offer {
	var out []cloud.Offer
	for i := range s.catalog.Types {
		t := &s.catalog.Types[i]
		for j := range t.Offerings {
			if o := &t.Offerings[j]; o.ReservationID == "" && asked(t, o) {
				out = append(out, cloud.Candidate{Type: t, Offering: o}.Offer())
			}
		}
	}
	return out
}

// Deplete makes types of machines unavailable until Restock.
func (s *Sim) Deplete(types ...string) {
	s.watch.Stir()
	for _, offer := range s.offers(func(t *catalog.Type, _ *catalog.Offering) bool { return slices.Contains(types, t.Name) }) {
		s.Cloud.SetStock(offer, 0)
	}
}

// Cheapest returns the types that cost least on demand.
func (s *Sim) Cheapest(n int) []string {
	types := slices.Clone(s.catalog.Types)
	price := func(t *catalog.Type) model.Money {
		return s.meter.prices[cloud.Offer{InstanceType: t.Name, Zone: t.Offerings[0].Zone, CapacityType: catalog.OnDemand}]
	}
	slices.SortFunc(types, func(a, b catalog.Type) int {
		return cmp.Or(cmp.Compare(price(&a), price(&b)), cmp.Compare(a.Name, b.Name))
	})
	var names []string
	for i := range min(n, len(types)) {
		names = append(names, types[i].Name)
	}
	return names
}

// Restock ends all shortages.
func (s *Sim) Restock() {
	s.watch.Stir()
	for _, offer := range s.offers(func(*catalog.Type, *catalog.Offering) bool { return true }) {
		s.Cloud.SetStock(offer, memory.Unlimited)
	}
}

// move changes the prices of a type's spot machines, each a little.
func (s *Sim) move(dice *rand.Rand) {
	const least, most = 20, 90 // percent of the price on demand
	s.reprice(s.catalog.Types[dice.IntN(len(s.catalog.Types))].Name, func(now, full model.Money) model.Money {
		return min(max(now*model.Money(70+dice.IntN(75))/100, full*least/100), full*most/100)
	})
}

// Reprice sets the spot price of a type to a percentage of its price on demand.
func (s *Sim) Reprice(instanceType string, percent int) {
	s.watch.Stir()
	s.reprice(instanceType, func(_, full model.Money) model.Money { return full * model.Money(percent) / 100 })
}

func (s *Sim) reprice(instanceType string, price func(now, full model.Money) model.Money) {
	next := &catalog.Catalog{Types: slices.Clone(s.catalog.Types)}
	at := slices.IndexFunc(next.Types, func(t catalog.Type) bool { return t.Name == instanceType })
	if at < 0 {
		return
	}
	t := &next.Types[at]
	t.Offerings = slices.Clone(t.Offerings)
	for j := range t.Offerings {
		o := &t.Offerings[j]
		if o.CapacityType != catalog.Spot {
			continue
		}
		o.Price = price(o.Price, s.meter.prices[cloud.Offer{InstanceType: t.Name, Zone: o.Zone, CapacityType: catalog.OnDemand}])
		s.meter.reprice(cloud.Candidate{Type: t, Offering: o}.Offer(), o.Price)
	}
	s.catalog = next
	s.Cloud.SetCatalog(next)
}
