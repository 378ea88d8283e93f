package invariant

import (
	"fmt"
	"time"

	"tenon/core/model"
)

// The rules about money over a whole run. They compare it with a run from the same seed in which
// the product never gives anything up.
const (
	NotDearer = "the fleet costs no more than one that is left alone, but for a while"
	PaysOff   = "a run costs no more than one that is left alone"
)

// What doing something may cost more than doing nothing. While a node is replaced both are
// paid for, and what was given up at noon may have to be bought again at one: for so long
// the fleet may be dearer. Percentages are for prices that differ from one purchase to the
// next; the rest is a node of the smallest kind.
const (
	Dearer       = 2 * time.Hour
	dearerBy     = 10 // percent of what the other fleet costs
	paysMore     = 2  // percent of what the other run has cost
	smallestNode = model.Money(45_000)
)

// Account is kept of two runs side by side.
type Account struct {
	// Report is told when a rule is broken.
	Report func(Violation)

	since time.Time // when the fleet became dearer; zero while it is not
	told  bool
}

// See compares what the two fleets cost an hour at a time.
func (a *Account) See(at time.Time, fleet, alone model.Money) {
	if fleet <= alone+alone*dearerBy/100+smallestNode {
		a.since = time.Time{}
		return
	}
	if a.since.IsZero() {
		a.since = at
	}
	if at.Sub(a.since) > Dearer && !a.told {
		a.told = true
		a.Report(Violation{At: at, Rule: NotDearer, What: fmt.Sprintf("%.4f an hour, and one that is left alone %.4f; dearer since %s",
			fleet.Float(), alone.Float(), a.since.UTC().Format(time.DateTime))})
	}
}

// Close compares what the two runs have cost in all.
func (a *Account) Close(at time.Time, paid, alone model.Money) {
	if paid > alone+alone*paysMore/100+smallestNode {
		a.Report(Violation{At: at, Rule: PaysOff, What: fmt.Sprintf("%.4f, and one that is left alone %.4f", paid.Float(), alone.Float())})
	}
}
