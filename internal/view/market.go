package view

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// Market is the controller's published market: its offerings, their prices, and what is out of
// stock.
type Market struct {
	// At is when it was published; zero if it was not.
	At    time.Time
	Types []MarketType // by name
}

// MarketType is an instance type.
type MarketType struct {
	Name     string
	Arch     string
	Capacity model.Resources
	Offers   []MarketOffer // by zone and capacity type
}

// MarketOffer is the offering of a type in a zone.
type MarketOffer struct {
	Zone, CapacityType string
	Price              model.Money
	// Stock says that some class can buy it. Otherwise Since says since when none can, and Until when it is tried
	// again, if that is known.
	Stock        bool
	Since, Until time.Time
}

// Market returns the published market. If classes differ, an offer has the lowest price, and is in stock if one of them
// can buy it. Reservations are left out.
func (s *State) Market() Market {
	s.mu.Lock()
	at, catalogs := s.published, s.catalogs
	s.mu.Unlock()
	types := map[string]*MarketType{}
	for _, sells := range catalogs {
		for i := range sells.Types {
			t := &sells.Types[i]
			known := types[t.Name]
			if known == nil {
				known = &MarketType{Name: t.Name, Capacity: t.Capacity}
				if arch := t.Requirements.Get(requirement.KeyArch).Values(); len(arch) == 1 {
					known.Arch = arch[0]
				}
				types[t.Name] = known
			}
			for j := range t.Offerings {
				known.offer(&t.Offerings[j])
			}
		}
	}
	out := Market{At: at}
	for _, t := range types {
		slices.SortFunc(t.Offers, func(a, b MarketOffer) int {
			return cmp.Or(strings.Compare(a.Zone, b.Zone), strings.Compare(a.CapacityType, b.CapacityType))
		})
		out.Types = append(out.Types, *t)
	}
	slices.SortFunc(out.Types, func(a, b MarketType) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (t *MarketType) offer(o *catalog.Offering) {
	if o.Unpriced || o.ReservationID != "" || o.CapacityType == "reserved" {
		return
	}
	one := MarketOffer{Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price, Stock: o.Available}
	if o.Outage != nil && !o.Available {
		one.Since, one.Until = o.Outage.Since, o.Outage.Until
	}
	at := slices.IndexFunc(t.Offers, func(k MarketOffer) bool { return k.Zone == o.Zone && k.CapacityType == o.CapacityType })
	if at < 0 {
		t.Offers = append(t.Offers, one)
		return
	}
	known := &t.Offers[at]
	known.Price = min(known.Price, one.Price)
	if one.Stock {
		known.Stock, known.Since, known.Until = true, time.Time{}, time.Time{}
	}
}
