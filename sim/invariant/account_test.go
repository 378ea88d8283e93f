package invariant_test

import (
	"time"

	"tenon/core/model"
	"tenon/sim/invariant"
)

// fleets compares the costs of two fleets during a time.
func (s *fixture) fleets(fleet, alone model.Money, d time.Duration) {
	a := invariant.Account{Report: func(v invariant.Violation) { s.rules = append(s.rules, v.Rule) }}
	for end := s.clock.Now().Add(d); s.clock.Now().Before(end); s.clock.Step(time.Minute) {
		a.See(s.clock.Now(), fleet, alone)
	}
	a.See(s.clock.Now(), alone, alone)
}

func (s *fixture) bills(paid, alone model.Money) {
	a := invariant.Account{Report: func(v invariant.Violation) { s.rules = append(s.rules, v.Rule) }}
	a.Close(s.clock.Now(), paid, alone)
}

// accounts are examples of money that is saved, or not.
func accounts() map[string]example {
	const dollar = 1_000_000
	return map[string]example{
		"a fleet that stays dearer than one left alone": {invariant.NotDearer,
			func(s *fixture) { s.fleets(12*dollar, 10*dollar, 3*time.Hour) },
			func(s *fixture) { s.fleets(12*dollar, 10*dollar, time.Hour) }},
		"a fleet that is a fifth dearer than one left alone": {invariant.NotDearer,
			func(s *fixture) { s.fleets(12*dollar, 10*dollar, 3*time.Hour) },
			func(s *fixture) { s.fleets(11*dollar, 10*dollar, 3*time.Hour) }},
		"a run that did not pay off": {invariant.PaysOff,
			func(s *fixture) { s.bills(11*dollar, 10*dollar) },
			func(s *fixture) { s.bills(10*dollar, 10*dollar) }},
	}
}
