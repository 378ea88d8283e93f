// Package decide is the one entry to the core: a snapshot in, a decision out.
//
// The live controller, `tenon plan`, benchmarks, property tests and the simulation all
// call this function. It has no client, no clock and no randomness, and it does not
// change what it is given.
package decide

import (
	"tenon/core/plan"
	"tenon/core/provision"
	"tenon/core/snapshot"
)

// Budget bounds the effort of a decision, in steps of about a nanosecond each.
type Budget struct {
	// Steps per packing; 0 means DefaultSteps.
	Steps int64
}

// DefaultSteps is what a decision spends unless told otherwise.
const DefaultSteps = 200_000_000

// Decision is what was decided.
type Decision struct {
	Plan plan.Plan
}

// Decide looks at the snapshot and says what should be done.
func Decide(s *snapshot.Snapshot, b Budget) Decision {
	steps := b.Steps
	if steps <= 0 {
		steps = DefaultSteps
	}
	return Decision{Plan: provision.Plan(s, steps)}
}
