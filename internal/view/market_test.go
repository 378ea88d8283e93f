package view

import (
	"fmt"
	"testing"
	"time"

	"tenon/core/catalog"
	"tenon/core/model"
)

// TestTheMarketIsWhatWasPublished checks that the offers of several classes are one list, with the lowest price, and in stock
// if one class can buy them.
func TestTheMarketIsWhatWasPublished(t *testing.T) {
	t.Parallel()
	s := NewState(nil)
	if m := s.Market(); !m.At.IsZero() || len(m.Types) > 0 {
		t.Errorf("nothing was published: %+v", m)
	}
	outage := &catalog.Outage{Since: noon.Add(-time.Minute), Until: noon.Add(time.Minute)}
	offer := func(zone string, price float64, out *catalog.Outage) catalog.Offering {
		return catalog.Offering{Zone: zone, CapacityType: "spot", Price: model.MoneyFromFloat(price), Available: out == nil, Outage: out}
	}
	types := func(name string, offers ...catalog.Offering) *catalog.Catalog {
		return &catalog.Catalog{Types: []catalog.Type{{Name: name, Offerings: offers}}}
	}
	reserved := catalog.Offering{Zone: "a", CapacityType: "reserved", ReservationID: "cr-1", Available: true}
	s.Publish(noon, types("m5.large", offer("b", 0.2, outage), offer("a", 0.3, outage), reserved), types("m5.large", offer("a", 0.1, nil)), types("c5.large", offer("a", 0.1, nil)))
	m := s.Market()
	var got []string
	for _, sold := range m.Types {
		for _, o := range sold.Offers {
			got = append(got, fmt.Sprintf("%s %s %s %t %t", sold.Name, o.Zone, Decimal(o.Price, 1), o.Stock, o.Since.Equal(outage.Since)))
		}
	}
	if want := "[c5.large a 0.1 true false m5.large a 0.1 true false m5.large b 0.2 false true]"; fmt.Sprint(got) != want || !m.At.Equal(noon) {
		t.Errorf("%v, want %s", got, want)
	}
}
