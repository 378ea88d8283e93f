package offering

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"tenon/core/model"
)

// Prices are read exactly to a millionth, with more or fewer digits.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]model.Money{
		"0.0960000000": 96_000, "12": 12_000_000, "0.0000004": 0, "0.0000005": 1, "3.0600005": 3_060_001,
		"": 0, ".5": 0, "-1": 0, "x": 0, "0.00": 0, "99999999999999999999": 0,
	} {
		got, ok := parsePrice(text)
		if ok != (want > 0) || ok && got != want {
			t.Errorf("%q is %d, %t; want %d", text, got, ok, want)
		}
	}
}

// An entry of the price list tells type and price in the currency of the region.
func TestReadEntries(t *testing.T) {
	t.Parallel()
	entry := `{"product":{"attributes":{"instanceType":"m5.large"}},"terms":{"OnDemand":{"a":{"priceDimensions":{"b":{"pricePerUnit":{"USD":"0.096","CNY":"0.7"}}}}}}}`
	for region, want := range map[string]model.Money{"us-west-2": 96_000, "cn-north-1": 700_000} {
		name, price, ok := NewPriceList(region).read(entry)
		if !ok || name != "m5.large" || price != want {
			t.Errorf("%s: %s %d %t, want %d", region, name, price, ok, want)
		}
	}
	for _, broken := range []string{"", "{}", `{"product":{"attributes":{"instanceType":"m5.large"}}}`} {
		if _, _, ok := NewPriceList("us-west-2").read(broken); ok {
			t.Errorf("%q has a price", broken)
		}
	}
}

// Of several prices of a pool the latest counts, and one without a time not at all. (AWS SDK, ec2 v1.344.0, DescribeSpotPriceHistory: "It
// also returns the last price change before the start time, which is the effective price as of the start time.")
func TestLatestSpotPrice(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.August, 21, 12, 0, 0, 0, time.UTC)
	found := map[spotPool]quote{}
	for _, e := range []struct {
		price string
		at    *time.Time
	}{{"0.05", aws.Time(at)}, {"0.03", aws.Time(at.Add(time.Minute))}, {"0.04", aws.Time(at.Add(-time.Minute))}, {"0.01", nil}} {
		keepLatest(found, types.SpotPrice{InstanceType: "m5.large", AvailabilityZone: aws.String("a"), SpotPrice: aws.String(e.price), Timestamp: e.at})
	}
	if got := found[spotPool{"m5.large", "a"}].price; got != 30_000 {
		t.Errorf("price %d, want 30000", got)
	}
}

// Before EC2 told spot prices, spot costs what on demand costs; afterwards what was not
// told cannot be bought.
func TestSpotBeforeAndAfter(t *testing.T) {
	t.Parallel()
	l := NewPriceList("us-west-2")
	before := l.Prices()
	onDemand, _ := before.OnDemand("m5.large")
	if spot, known := before.Spot("m5.large", "us-west-2a"); !known || spot != onDemand {
		t.Errorf("spot %d, want %d", spot, onDemand)
	}
	l.change(func(p Prices) Prices { p.spot = map[spotPool]model.Money{{"m5.large", "us-west-2a"}: 1}; return p })
	after := l.Prices()
	if spot, known := after.Spot("m5.large", "us-west-2a"); !known || spot != 1 {
		t.Errorf("spot %d, want 1", spot)
	}
	if _, known := after.Spot("m5.large", "us-west-2b"); known {
		t.Error("a price that no list has")
	}
	if after.Revision() == before.Revision() {
		t.Error("other prices have the same revision")
	}
	l.change(func(p Prices) Prices { return p })
	if l.Prices() != after {
		t.Error("the same prices are another value")
	}
}
