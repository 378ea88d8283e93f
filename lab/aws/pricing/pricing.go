// Package pricing is the wire interface of the price list service.
package pricing

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"tenon/cloud/aws/facts"
	"tenon/lab/aws/accounts"
	"tenon/lab/aws/market"
	"tenon/lab/aws/random"
	"tenon/lab/aws/wire"
)

// Service serves the price list on the given world.
func Service(w *accounts.World) *wire.Service {
	return &wire.Service{
		Name: "pricing", Protocol: wire.JSON11, Target: "AWSPriceListService",
		Operations: map[string]wire.Handler{
			"GetProducts": wire.Operation(func(c *wire.Call, in *input) (*output, error) { return products(w, c, in) }),
		},
	}
}

type input struct {
	ServiceCode   string
	Filters       []filter
	FormatVersion string
	MaxResults    *int
	NextToken     string
}

type filter struct{ Type, Field, Value string }

type output struct {
	FormatVersion string
	PriceList     []string
	NextToken     string `json:",omitempty"`
}

// product is an entry of the price list, with the fields that clients read.
type product struct {
	Product     details `json:"product"`
	ServiceCode string  `json:"serviceCode"`
	Terms       terms   `json:"terms"`
	Version     string  `json:"version"`
}

type details struct {
	SKU        string            `json:"sku"`
	Family     string            `json:"productFamily"`
	Attributes map[string]string `json:"attributes"`
}

type terms struct {
	OnDemand map[string]term `json:"OnDemand"`
}

type term struct {
	SKU        string               `json:"sku"`
	Dimensions map[string]dimension `json:"priceDimensions"`
}

type dimension struct {
	Unit  string            `json:"unit"`
	Price map[string]string `json:"pricePerUnit"`
}

// products lists the prices of the region that a filter names, not those of the endpoint's region.
func products(w *accounts.World, c *wire.Call, in *input) (*output, error) {
	if in.ServiceCode != "AmazonEC2" {
		return nil, wire.Errorf("NotFoundException", "The emulator has prices of AmazonEC2 only, not of %q.", in.ServiceCode)
	}
	region := c.Region
	for _, f := range in.Filters {
		if f.Type != "TERM_MATCH" {
			return nil, wire.Errorf("InvalidParameterException", "The emulator has filters of type TERM_MATCH only, not %q.", f.Type)
		}
		if strings.EqualFold(f.Field, "regionCode") {
			region = f.Value
		}
	}
	var market *market.Market
	if err := w.Do(c.Account, region, func(r *accounts.Region) error {
		market = r.Market // the market never changes
		return nil
	}); err != nil {
		return nil, err
	}
	var found []product
	for _, t := range market.Types() {
		if p, sold := entry(market, region, t); sold && p.passes(in.Filters) {
			found = append(found, p)
		}
	}
	return page(found, in)
}

func page(found []product, in *input) (*output, error) {
	list, next, err := wire.Page(sorted(found), func(p product) string { return p.Product.SKU }, in.MaxResults, in.NextToken, wire.Limits{Min: 1, Max: 100})
	out := &output{FormatVersion: "aws_v1", PriceList: []string{}, NextToken: next}
	for _, p := range list {
		text, err := json.Marshal(p)
		if err != nil {
			return nil, err
		}
		out.PriceList = append(out.PriceList, string(text))
	}
	return out, err
}

func entry(m *market.Market, region string, t facts.Type) (product, bool) {
	price, known := m.OnDemand(t.Name)
	if !known {
		return product{}, false
	}
	family, tenancy := "Compute Instance", "Shared"
	if t.BareMetal {
		family, tenancy = "Compute Instance (bare metal)", "Dedicated"
	}
	sku := strings.ToUpper(random.Seed(0).Hex(16, "sku", region, t.Name))
	return product{
		ServiceCode: "AmazonEC2", Version: "20260720000000",
		Product: details{SKU: sku, Family: family, Attributes: map[string]string{
			"instanceType": t.Name, "regionCode": region, "servicecode": "AmazonEC2", "operatingSystem": "Linux", "preInstalledSw": "NA",
			"capacitystatus": "Used", "marketoption": "OnDemand", "tenancy": tenancy,
		}},
		Terms: terms{map[string]term{sku + ".JRTCKXETXF": {sku, map[string]dimension{
			sku + ".JRTCKXETXF.6YS6EN2CT7": {"Hrs", map[string]string{m.Currency(): market.Decimal(price) + "0000"}},
		}}}},
	}, true
}

// passes compares fields without regard to case, as the service does.
func (p product) passes(filters []filter) bool {
	for _, f := range filters {
		value, known := p.field(f.Field)
		if !known || !strings.EqualFold(value, f.Value) {
			return false
		}
	}
	return true
}

func (p product) field(name string) (string, bool) {
	if strings.EqualFold(name, "productFamily") {
		return p.Product.Family, true
	}
	for key, value := range p.Product.Attributes {
		if strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}

// sorted returns the list in the order of the products' numbers, which are the keys of pages.
func sorted(list []product) []product {
	slices.SortFunc(list, func(a, b product) int { return cmp.Compare(a.Product.SKU, b.Product.SKU) })
	return list
}
