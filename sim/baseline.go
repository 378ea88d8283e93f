package sim

import (
	"fmt"
	"time"

	"tenon/core/model"
	"tenon/sim/invariant"
)

// The disruptions that a baseline decides.
const (
	BaselineAlone   = "alone"   // nothing
	BaselineEmpties = "empties" // nodes without pods
)

// baseline is a run from the same seed in which the product buys for pods but disrupts fewer nodes: it
// shows the cost of doing nothing. Users do the same in both runs. Mishaps differ, because their dice
// follow what the product does.
type baseline struct {
	*Sim
	account invariant.Account
	next    time.Time
	paid    model.Money // what the run that it is compared with has cost by the end
}

// comparing is how often the two runs are compared.
const comparing = time.Minute

// addBaseline gives a run its baseline.
func (t Trial) addBaseline(s *Sim) error {
	o := t.Options
	o.Log = nil
	switch t.Baseline {
	case BaselineAlone:
		o.Alone = true
	case BaselineEmpties:
		o.Empties = true
	default:
		return fmt.Errorf("a baseline gives up %s or %s, and not %q", BaselineAlone, BaselineEmpties, t.Baseline)
	}
	other, err := New(o)
	if err != nil {
		return fmt.Errorf("baseline of seed %d: %w", o.Seed, err)
	}
	s.baseline = &baseline{Sim: other, account: invariant.Account{Report: s.violated}, next: s.begun}
	return nil
}

// follow advances the baseline to the time of the run, and compares the costs of the fleets.
func (t *baseline) follow(s *Sim) {
	for ; !t.next.After(s.Clock.Now()); t.next = t.next.Add(comparing) {
		for t.Step(t.next) {
			continue
		}
		t.account.See(t.next, s.meter.rate, t.meter.rate)
	}
}

// close compares the costs of both runs at the end.
func (t *baseline) close(s *Sim, end time.Time) {
	t.follow(s)
	for t.Step(end) {
		continue
	}
	t.paid, s.alone = model.Money(s.meter.cost), model.Money(t.meter.cost)
	t.account.Close(end, t.paid, s.alone)
}
