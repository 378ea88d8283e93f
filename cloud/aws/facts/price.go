package facts

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"tenon/core/model"
)

//go:embed prices.txt
var pricesText string

// Prices is a list of hourly on-demand prices for Linux: with shared tenancy, or dedicated tenancy for bare
// metal.
type Prices struct {
	Region   string
	Currency string // as an ISO 4217 code
	// Date is the date of the list, such as 2026-07-20; empty if it is not known.
	Date string
	// Hourly is the price by the name of the type. The map is shared: do not change it.
	Hourly map[string]model.Money
}

// PriceLists returns the built-in price lists, sorted by region. The slice is shared: do not change it.
func PriceLists() []Prices { return decodedPrices() }

var decodedPrices = sync.OnceValue(func() []Prices {
	lists, err := DecodePrices(pricesText)
	if err != nil {
		panic("built-in prices: " + err.Error()) // a test decodes them
	}
	return lists
})

// PricesFor returns the list to use in a region: the region's own, or that of the region that stands in for
// it. AWS bills regions in China in yuan, so they use the Chinese list; all others use us-east-1.
func PricesFor(region string) Prices {
	fallback := "us-east-1"
	if strings.HasPrefix(region, "cn-") {
		fallback = "cn-north-1"
	}
	var found Prices
	for _, list := range PriceLists() {
		if list.Region == region {
			return list
		}
		if list.Region == fallback {
			found = list
		}
	}
	return found
}

// DecodePrices reads price lists:
//
//	list us-east-1 USD 2026-07-20
//	m5 large=0.096 xlarge=0.192
//
// Each list has a line for every family, with a price for each of its sizes. A list without a known date has
// a dash in its place.
func DecodePrices(text string) ([]Prices, error) {
	var lists []Prices
	for n := 1; text != ""; n++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		var err error
		if lists, err = priceLine(lists, line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return lists, nil
}

func priceLine(lists []Prices, line string) ([]Prices, error) {
	words := strings.Fields(line)
	switch {
	case len(words) == 0 || strings.HasPrefix(line, "#"):
		return lists, nil
	case words[0] == "list" && len(words) != 4:
		return nil, fmt.Errorf("a list has a region, a currency and a date, this has %d words", len(words)-1)
	case words[0] == "list":
		list := Prices{Region: words[1], Currency: words[2], Date: words[3], Hourly: map[string]model.Money{}}
		if list.Date == "-" {
			list.Date = ""
		}
		return append(lists, list), nil
	case len(lists) == 0:
		return nil, fmt.Errorf("a price before the first list")
	}
	for _, word := range words[1:] {
		size, price, _ := strings.Cut(word, "=")
		money, err := ParsePrice(price)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", words[0], size, err)
		}
		lists[len(lists)-1].Hourly[words[0]+"."+size] = money
	}
	return lists, nil
}

// EncodePrices writes the lists that DecodePrices reads. It writes types in the order of names, so that a
// family's sizes stay in the order that people expect, and leaves out types that are not in names.
func EncodePrices(w io.Writer, lists []Prices, names []string) error {
	var b strings.Builder
	b.WriteString("# On-demand prices per hour. Written by the program in the folder generate; see\n")
	b.WriteString("# docs/reference/catalogue.md before editing.\n")
	lists = slices.SortedFunc(slices.Values(lists), func(a, b Prices) int { return strings.Compare(a.Region, b.Region) })
	for _, list := range lists {
		fmt.Fprintf(&b, "\nlist %s %s %s", list.Region, list.Currency, orDash(list.Date))
		last := ""
		for _, name := range names {
			price, ok := list.Hourly[name]
			if !ok {
				continue
			}
			family, size, _ := strings.Cut(name, ".")
			if family != last {
				b.WriteString("\n" + family)
				last = family
			}
			fmt.Fprintf(&b, " %s=%s", size, price)
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ParsePrice reads a decimal price exactly. It refuses a price that is not positive or has more decimals than
// model.Money.
func ParsePrice(text string) (model.Money, error) {
	units, decimals, _ := strings.Cut(text, ".")
	if units == "" || len(decimals) > 6 {
		return 0, fmt.Errorf("%q is not a price in units with at most six decimals", text)
	}
	q, err := quantity(units + decimals + strings.Repeat("0", 6-len(decimals)))
	if err != nil || q == 0 {
		return 0, fmt.Errorf("%q is not a positive price", text)
	}
	return model.Money(q), nil
}
