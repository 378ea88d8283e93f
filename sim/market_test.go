package sim

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// market records when a run's market changed, and the final prices.
func market(t *testing.T, named string, o Options) (news []Mishap, prices map[string]string) {
	t.Helper()
	var err error
	if o.Faults, err = ParseFaults(named); err != nil {
		t.Fatal(err)
	}
	o.Seed, o.Pods = 5, 8
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Run(2 * time.Hour)
	for _, m := range s.Script {
		if strings.HasPrefix(m.What, "price") || strings.HasPrefix(m.What, "shortage") {
			news = append(news, m)
		}
	}
	prices = map[string]string{}
	for offer, price := range s.meter.prices {
		prices[offer.String()] = price.String()
	}
	return news, prices
}

// The market does not depend on the product's purchases and removals: baselines have the same
// market.
func TestBaselinesHaveTheSameMarket(t *testing.T) {
	t.Parallel()
	const faults = "price*3,shortage*3,interrupt,crash,api"
	news, prices := market(t, faults, Options{})
	others, same := market(t, faults, Options{Alone: true})
	unnumbered := cmp.Transformer("", func(m Mishap) string { return m.At.Format(time.DateTime) + m.What })
	if diff := cmp.Diff(news, others, unnumbered) + cmp.Diff(prices, same); diff != "" || len(news) < 20 {
		t.Errorf("%d things happened (-product +baseline):\n%s", len(news), diff)
	}
}

// An incident that is left out changes no later one, so a script can be shortened.
func TestSkippedIncidentsDoNotChangeLaterOnes(t *testing.T) {
	t.Parallel()
	const faults = "price*3,shortage*3"
	all, _ := market(t, faults, Options{})
	var only Numbers
	for _, m := range all[len(all)/2:] {
		only = append(only, m.Number)
	}
	later, _ := market(t, faults, Options{Only: only})
	if diff := cmp.Diff(all[len(all)/2:], later); diff != "" {
		t.Errorf("(-all +later):\n%s", diff)
	}
}
