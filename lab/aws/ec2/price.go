package ec2

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/market"
	"tenon/lab/aws/wire"
)

type pricesInput struct {
	listing
	Zone         string   `query:"AvailabilityZone"`
	ZoneID       string   `query:"AvailabilityZoneId"`
	Types        []string `query:"InstanceType"`
	Descriptions []string `query:"ProductDescription"`
	StartTime    time.Time
	EndTime      time.Time
}

type pricesOutput struct {
	Prices []priceItem `xml:"spotPriceHistorySet>item"`
	Next   string      `xml:"nextToken"`
}

type priceItem struct {
	Type        string `xml:"instanceType"`
	Description string `xml:"productDescription"`
	Price       string `xml:"spotPrice"`
	Time        string `xml:"timestamp"`
	Zone        string `xml:"availabilityZone"`
	ZoneID      string `xml:"availabilityZoneId"`
}

// product is the only product with prices in the emulator.
const product = "Linux/UNIX"

// history is how far back EC2 reports prices, and longest is the limit for the emulator's entries: a
// request for more sees less of the past.
const (
	history = 90 * 24 * time.Hour
	longest = 400_000
)

func describePrices(r *accounts.Region, in *pricesInput) (*pricesOutput, error) {
	if in.MaxResults != nil {
		most := min(*in.MaxResults, 1000) // EC2 treats larger numbers like this one
		in.MaxResults = &most
	}
	if len(in.Types) > 0 {
		in.Filters = append(in.Filters, wire.Filter{Name: "instance-type", Values: in.Types})
	}
	if len(in.Descriptions) > 0 {
		in.Filters = append(in.Filters, wire.Filter{Name: "product-description", Values: in.Descriptions})
	}
	kinds := slices.DeleteFunc(slices.Clone(r.Market.Types()), func(t facts.Type) bool {
		return len(in.Types) > 0 && !slices.Contains(in.Types, t.Name)
	})
	start, end := period(in, r.Now(), len(kinds)*len(r.Zones))
	var all []priceItem
	for _, t := range kinds {
		for _, z := range r.Zones {
			if r.Market.Offered(t, z.Name) && (in.Zone == "" || in.Zone == z.Name) && (in.ZoneID == "" || in.ZoneID == z.ID) {
				all = append(all, pricesOf(z.ID, r.Market.History(t.Name, z.Name, start, end))...)
			}
		}
	}
	return pricePage(in, all)
}

// period returns the requested time, cut to what EC2 knows: until now.
func period(in *pricesInput, now time.Time, pools int) (start, end time.Time) {
	end = now
	if !in.EndTime.IsZero() && in.EndTime.Before(now) {
		end = in.EndTime
	}
	start = now.Add(-history)
	if in.StartTime.After(start) {
		start = in.StartTime
	}
	if limit := end.Add(-market.Epoch * time.Duration(longest/max(pools, 1))); limit.After(start) {
		start = limit
	}
	return start, end
}

func pricesOf(zoneID string, prices []market.Price) (items []priceItem) {
	for _, p := range prices {
		items = append(items, priceItem{p.Type, product, market.Decimal(p.Price), stamp(p.Since), p.Zone, zoneID})
	}
	return items
}

// pricePage puts the newest first. The key for pages is the position in that order, since times are not
// unique.
func pricePage(in *pricesInput, all []priceItem) (*pricesOutput, error) {
	type placed struct {
		priceItem
		place string
	}
	slices.SortFunc(all, func(a, b priceItem) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Zone, b.Zone))
	})
	items := make([]placed, len(all))
	for n, p := range all {
		items[n] = placed{p, fmt.Sprintf("%09d", n)}
	}
	found, next, err := list(in.listing, items, listed[placed]{
		key: func(p placed) string { return p.place },
		attributes: func(p placed) (wire.Attributes, []wire.Tag) {
			return wire.Attributes{"instance-type": one(p.Type), "product-description": one(p.Description), "spot-price": one(p.Price),
				"availability-zone": one(p.Zone), "availability-zone-id": one(p.ZoneID), "timestamp": one(p.Time)}, nil
		},
		limits: wire.Limits{Min: 0, Max: 1000},
	})
	out := &pricesOutput{Next: next}
	for _, p := range found {
		out.Prices = append(out.Prices, p.priceItem)
	}
	return out, err
}
