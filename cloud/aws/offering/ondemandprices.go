package offering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"tenon/cloud/aws/api"
	"tenon/core/model"
)

// UpdateOnDemand asks for on-demand prices. Bare metal is listed apart from the rest; if
// one of the two has no prices, nothing changes.
func (l *PriceList) UpdateOnDemand(ctx context.Context, client api.Pricing) error {
	if !l.hasPricing() {
		return nil
	}
	found := map[string]model.Money{}
	for _, variant := range []map[string]string{
		{"tenancy": "Shared", "productFamily": "Compute Instance"},
		{"tenancy": "Dedicated", "productFamily": "Compute Instance (bare metal)"},
	} {
		prices, err := l.ask(ctx, client, variant)
		if err != nil {
			return fmt.Errorf("ask for on-demand prices: %w", err)
		}
		if len(prices) == 0 {
			return errors.New("no on-demand pricing found")
		}
		maps.Copy(found, prices)
	}
	l.change(func(old Prices) Prices {
		merged := maps.Clone(old.onDemand)
		maps.Copy(merged, found)
		old.onDemand = merged
		return old
	})
	return nil
}

// hasPricing: the API tells nothing of the regions of the government.
func (l *PriceList) hasPricing() bool { return !strings.HasPrefix(l.region, "us-gov") }

func (l *PriceList) ask(ctx context.Context, client api.Pricing, variant map[string]string) (map[string]model.Money, error) {
	input := &pricing.GetProductsInput{ServiceCode: aws.String("AmazonEC2"), MaxResults: aws.Int32(100), Filters: []types.Filter{
		match("regionCode", l.region), match("serviceCode", "AmazonEC2"), match("preInstalledSw", "NA"),
		match("operatingSystem", "Linux"), match("capacitystatus", "Used"), match("marketoption", "OnDemand"),
		match("tenancy", variant["tenancy"]), match("productFamily", variant["productFamily"]),
	}}
	found := map[string]model.Money{}
	pages := pricing.NewGetProductsPaginator(client, input)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, text := range page.PriceList {
			if name, price, ok := l.read(text); ok {
				found[name] = price
			}
		}
	}
	return found, nil
}

func match(field, value string) types.Filter {
	return types.Filter{Field: aws.String(field), Type: types.FilterTypeTermMatch, Value: aws.String(value)}
}

// product is the part of a price list's entry that matters.
type product struct {
	Product struct {
		Attributes struct {
			InstanceType string `json:"instanceType"`
		} `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				PricePerUnit map[string]string `json:"pricePerUnit"`
			} `json:"priceDimensions"`
		} `json:"OnDemand"`
	} `json:"terms"`
}

// read takes type and price from an entry; what has no price is passed over. Where an
// entry has several prices the lowest is taken, so that it does not depend on their order.
func (l *PriceList) read(text string) (name string, price model.Money, ok bool) {
	var p product
	if err := json.Unmarshal([]byte(text), &p); err != nil || p.Product.Attributes.InstanceType == "" {
		return "", 0, false
	}
	for _, term := range p.Terms.OnDemand {
		for _, dimension := range term.PriceDimensions {
			if found, valid := parsePrice(dimension.PricePerUnit[l.currency()]); valid && (!ok || found < price) {
				price, ok = found, true
			}
		}
	}
	return p.Product.Attributes.InstanceType, price, ok
}

func (l *PriceList) currency() string {
	if strings.HasPrefix(l.region, "cn-") {
		return "CNY"
	}
	return "USD"
}

// parsePrice reads a positive decimal price of any precision, rounded to what money has.
func parsePrice(text string) (model.Money, bool) {
	units, decimals, _ := strings.Cut(text, ".")
	digits := decimals + "0000000"
	var n, rest int64
	for i, c := range units + digits[:7] {
		if c < '0' || c > '9' || i > 17 {
			return 0, false
		}
		if i == len(units)+6 {
			rest = int64(c - '0')
			break
		}
		n = n*10 + int64(c-'0')
	}
	if rest >= 5 {
		n++
	}
	return model.Money(n), units != "" && n > 0
}
