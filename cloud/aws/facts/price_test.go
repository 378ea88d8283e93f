package facts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/cloud/aws/facts"
	"tenon/core/model"
)

// Checksums, taken from the source data by another program.
func TestEveryPriceIsLoaded(t *testing.T) {
	t.Parallel()
	type list struct {
		Region, Currency, Date string
		Types                  int
		Total                  model.Money
	}
	want := []list{
		{"cn-north-1", "CNY", "", 316, 10_471_677_230},
		{"us-east-1", "USD", "2026-07-20", 1367, 8_272_033_842},
		{"us-gov-east-1", "USD", "2026-07-20", 549, 3_851_094_230},
		{"us-gov-west-1", "USD", "2026-07-20", 770, 4_986_338_170},
	}
	var got []list
	for _, prices := range facts.PriceLists() {
		l := list{prices.Region, prices.Currency, prices.Date, len(prices.Hourly), 0}
		for _, price := range prices.Hourly {
			l.Total += price
		}
		got = append(got, l)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("price lists (-want +got):\n%s", diff)
	}
}

func TestPricesFor(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		region, list, typ string
		price             model.Money
	}{
		"a region with a list":                {"us-east-1", "us-east-1", "m5.large", 96_000},
		"a region without takes us-east-1":    {"us-west-2", "us-east-1", "t3.nano", 5_200},
		"GovCloud has lists of its own":       {"us-gov-west-1", "us-gov-west-1", "m5.large", 121_000},
		"China":                               {"cn-north-1", "cn-north-1", "m5.large", 1_013_000},
		"the other region in China":           {"cn-northwest-1", "cn-north-1", "m5.large", 1_013_000},
		"a region that is not in the table":   {"xx-moon-1", "us-east-1", "p4d.24xlarge", 21_957_642},
		"a type that the region's list lacks": {"us-gov-west-1", "us-gov-west-1", "trn1.2xlarge", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := facts.PricesFor(tc.region)
			if got.Region != tc.list || got.Hourly[tc.typ] != tc.price {
				t.Errorf("list %s with %s for %s, want %s with %s", got.Region, got.Hourly[tc.typ], tc.typ, tc.list, tc.price)
			}
		})
	}
}

func TestEncodePricesWritesWhatDecodePricesReads(t *testing.T) {
	t.Parallel()
	var names []string
	for _, typ := range facts.Types() {
		names = append(names, typ.Name)
	}
	var text strings.Builder
	if err := facts.EncodePrices(&text, facts.PriceLists(), names); err != nil {
		t.Fatal(err)
	}
	got, err := facts.DecodePrices(text.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(facts.PriceLists(), got); diff != "" {
		t.Errorf("prices after a round trip (-want +got):\n%s", diff)
	}
}

func TestDecodePricesRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"a price before the list":     {"m5 large=1", "line 1: a price before the first list"},
		"a list without date":         {"list us-east-1 USD", "line 1: a list has a region, a currency and a date, this has 2 words"},
		"a price that is text":        {"list r USD -\nm5 large=dear", `line 2: m5.large: "dear" is not a positive price`},
		"a free machine":              {"list r USD -\nm5 large=0.0", `line 2: m5.large: "0.0" is not a positive price`},
		"a negative price":            {"list r USD -\nm5 large=-1", `line 2: m5.large: "-1" is not a positive price`},
		"more decimals than money":    {"list r USD -\nm5 large=0.0000001", `line 2: m5.large: "0.0000001" is not a price in units with at most six decimals`},
		"a size without price":        {"list r USD -\nm5 large", `line 2: m5.large: "" is not a price in units with at most six decimals`},
		"a price without whole units": {"list r USD -\nm5 large=.5", `line 2: m5.large: ".5" is not a price in units with at most six decimals`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := facts.DecodePrices(tc.text)
			if err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %s", err, tc.want)
			}
		})
	}
}

func FuzzDecodePrices(f *testing.F) {
	f.Add("list us-east-1 USD 2026-07-20\nm5 large=0.096 xlarge=0.192\n")
	f.Add("# nothing\n\nlist a B -\n")
	f.Fuzz(func(t *testing.T, text string) {
		lists, err := facts.DecodePrices(text)
		if err != nil {
			return
		}
		for _, list := range lists {
			for name, price := range list.Hourly {
				if price <= 0 {
					t.Errorf("%s costs %d", name, price)
				}
			}
		}
	})
}

func TestZonesOf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		region string
		want   []facts.Zone
		known  bool
	}{
		"four zones": {"us-west-2", []facts.Zone{
			{Name: "us-west-2a", ID: "usw2-az2"}, {Name: "us-west-2b", ID: "usw2-az1"},
			{Name: "us-west-2c", ID: "usw2-az3"}, {Name: "us-west-2d", ID: "usw2-az4"}}, true},
		"letters with a gap": {"ca-central-1", []facts.Zone{
			{Name: "ca-central-1a", ID: "cac1-az1"}, {Name: "ca-central-1b", ID: "cac1-az2"}, {Name: "ca-central-1d", ID: "cac1-az4"}}, true},
		"an unknown region": {"xx-moon-1", []facts.Zone{
			{Name: "xx-moon-1a"}, {Name: "xx-moon-1b"}, {Name: "xx-moon-1c"}}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, known := facts.ZonesOf(tc.region)
			if known != tc.known || !slices.Equal(got, tc.want) {
				t.Errorf("zones %v, known %t; want %v, %t", got, known, tc.want, tc.known)
			}
		})
	}
}
