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

// Budget bounds the effort of a decision.
type Budget struct {
	// Steps are about a nanosecond each; 0 means provision.FullEffort. From there on,
	// more steps never make a dearer plan.
	Steps int64
}

// Decision is what was decided.
type Decision struct {
	Plan plan.Plan
}

// Decide looks at the snapshot and says what should be done.
func Decide(s *snapshot.Snapshot, b Budget) Decision {
	return Decision{Plan: provision.Plan(s, b.Steps)}
}
