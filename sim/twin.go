package sim

import (
	"fmt"
	"time"

	"tenon/core/model"
	"tenon/sim/invariant"
)

// What a twin gives up.
const (
	TwinAlone   = "alone"   // nothing
	TwinEmpties = "empties" // nodes without pods
)

// twin is a run from the same seed in which the product buys for pods, and gives up less:
// what doing nothing would have cost. Users do the same in both; what goes wrong does not,
// since the dice of mishaps follow what the product does.
type twin struct {
	*Sim
	account invariant.Account
	next    time.Time
	paid    model.Money // what the run beside it has cost by the end
}

// comparing is how often two runs are compared.
const comparing = time.Minute

// pair gives a run its twin.
func (t Trial) pair(s *Sim) error {
	o := t.Options
	o.Log = nil
	switch t.Twin {
	case TwinAlone:
		o.Alone = true
	case TwinEmpties:
		o.Empties = true
	default:
		return fmt.Errorf("a twin gives up %s or %s, and not %q", TwinAlone, TwinEmpties, t.Twin)
	}
	other, err := New(o)
	if err != nil {
		return fmt.Errorf("twin of seed %d: %w", o.Seed, err)
	}
	s.twin = &twin{Sim: other, account: invariant.Account{Report: s.violated}, next: s.begun}
	return nil
}

// follow brings the twin to where the run is, and compares what the fleets cost.
func (t *twin) follow(s *Sim) {
	for ; !t.next.After(s.Clock.Now()); t.next = t.next.Add(comparing) {
		for t.Step(t.next) {
			continue
		}
		t.account.See(t.next, s.meter.rate, t.meter.rate)
	}
}

// close compares what both have cost by the end.
func (t *twin) close(s *Sim, end time.Time) {
	t.follow(s)
	for t.Step(end) {
		continue
	}
	t.paid, s.alone = model.Money(s.meter.cost), model.Money(t.meter.cost)
	t.account.Close(end, t.paid, s.alone)
}
