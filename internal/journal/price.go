package journal

import (
	"context"
	"slices"
	"time"
)

// Priced is what the fleet cost an hour when a decision was made.
type Priced struct {
	At      time.Time
	PerHour float64
	// Currency is that of the decision, in ISO 4217; empty if it is not known.
	Currency string
}

// Prices returns the price of the fleet at every recorded decision, the oldest first. A decision that says the same as an
// earlier one has its price.
func Prices(ctx context.Context, from Source) ([]Priced, error) {
	var out []Priced
	costs := map[int64]*Cost{}
	err := from.Lines(ctx, 0, func(l Line) error {
		d := l.Decision
		if d == nil {
			return nil
		}
		cost := d.Cost
		if d.Same != 0 {
			cost = costs[d.Same]
		}
		if cost == nil {
			return nil
		}
		costs[l.Seq] = cost
		out = append(out, Priced{d.At, cost.Before, cost.Currency})
		return nil
	})
	slices.SortStableFunc(out, func(a, b Priced) int { return a.At.Compare(b.At) })
	return out, err
}

// Spending is what a fleet has cost between two times.
type Spending struct {
	// From is the later one of the time that was asked for and the first decision that is known.
	From, Until time.Time
	Spent       float64
	// Least and Most are the lowest and the highest price an hour in that time.
	Least, Most float64
	Currency    string
}

// Spent adds up prices from one time until another: each holds until the next decision. It reports false if none is known
// of that time.
func Spent(prices []Priced, from, until time.Time) (Spending, bool) {
	next, _ := slices.BinarySearchFunc(prices, from, func(p Priced, at time.Time) int {
		if p.At.After(at) {
			return 1
		}
		return -1
	})
	first := max(next-1, 0)
	if !from.Before(until) || first >= len(prices) || !prices[first].At.Before(until) {
		return Spending{}, false
	}
	out := Spending{From: from, Until: until, Least: prices[first].PerHour}
	if prices[first].At.After(from) {
		out.From = prices[first].At
	}
	for i := first; i < len(prices) && prices[i].At.Before(until); i++ {
		begin, end := prices[i].At, until
		if begin.Before(out.From) {
			begin = out.From
		}
		if i+1 < len(prices) && prices[i+1].At.Before(until) {
			end = prices[i+1].At
		}
		out.Spent += prices[i].PerHour * end.Sub(begin).Hours()
		out.Least, out.Most, out.Currency = min(out.Least, prices[i].PerHour), max(out.Most, prices[i].PerHour), prices[i].Currency
	}
	return out, true
}
