package invariant

import (
	"fmt"
	"time"

	"tenon/core/model"
)

// The rules about money over a whole run. They compare it with a run from the same seed in which the
// product never disrupts a node.
const (
	NotDearer = "the fleet costs no more than one that is left alone, but for a while"
	PaysOff   = "a run costs no more than one that is left alone"
)

// How much more a run may cost than its baseline. While a node is replaced, both nodes are paid for, and
// capacity that was given up may have to be bought again an hour later: for so long the fleet may cost
// more. Percentages allow for prices that differ from one purchase to the next; the remainder is a node of
// the smallest kind.
const (
	Dearer       = 2 * time.Hour
	dearerBy     = 10 // percent of what the other fleet costs
	paysMore     = 2  // percent of what the other run has cost
	smallestNode = model.Money(45_000)
)

// Account compares the costs of two runs.
type Account struct {
	// Report is called when a rule is broken.
	Report func(Violation)

	since time.Time // when the fleet began to cost more; zero while it does not
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

// Close compares the total costs of the two runs.
func (a *Account) Close(at time.Time, paid, alone model.Money) {
	if paid > alone+alone*paysMore/100+smallestNode {
		a.Report(Violation{At: at, Rule: PaysOff, What: fmt.Sprintf("%.4f, and one that is left alone %.4f", paid.Float(), alone.Float())})
	}
}
