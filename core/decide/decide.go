// Package decide is the one entry to the core: a snapshot in, a decision out.
//
// The live controller, `tenon plan`, benchmarks, property tests and the simulation all
// call this function. It has no client, no clock and no randomness, and it does not
// change what it is given.
package decide

import (
	"slices"

	"tenon/core/disrupt"
	"tenon/core/expand"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/provision"
	"tenon/core/snapshot"
	"tenon/core/wait"
)

// Budget bounds the effort of a decision.
type Budget struct {
	// Steps are about a nanosecond each; 0 means provision.FullEffort. From there on,
	// more steps never make a dearer plan.
	Steps int64
	// Unadvised leaves out what would help pods that find no place.
	Unadvised bool
	// Unproven leaves out the bound on the price of new nodes.
	Unproven bool
	// Memory keeps results for a caller that decides again and again; nil keeps none.
	Memory *provision.Memory
	// Disrupt, if set, asks which nodes to give up, with an effort and a starting point; see package
	// disrupt.
	Disrupt bool
	Sweep   disrupt.Budget
}

// Decision is what was decided.
type Decision struct {
	Plan plan.Plan
	// Coverage tells how much of the fleet was looked at, if that was asked for.
	Coverage Coverage
	// Bound is proven about the price of all new nodes, those that disruptions ask for
	// included, if it was asked for.
	Bound model.Money
	// Waiting says since when each delayed part has waited; the next snapshot carries it.
	Waiting snapshot.Waiting
}

// Coverage is how far an evaluation of the fleet came.
type Coverage struct {
	// Next is where to go on: see disrupt.Budget.
	Next string
	// Swept nodes were looked at one by one, Skipped ones are left for the next time.
	Swept, Skipped int
}

// At is the decision about a snapshot that differs from the earlier one only in its time and in what waits.
// The claims are the same, but their delays may differ. It returns false if other pods are held; then
// Decide has to be called again.
func (d Decision) At(s *snapshot.Snapshot) (Decision, bool) {
	if !slices.Equal(wait.Pods(s), d.Plan.Held) {
		return Decision{}, false
	}
	d.Plan.Claims, d.Plan.Spare = slices.Clone(d.Plan.Claims), slices.Clone(d.Plan.Spare)
	wait.Claims(s, &d.Plan)
	return d, true
}

// Decide looks at the snapshot and says what should be done. Pods without a place come first: disruptions
// cannot use the room that they need. Buffers come second and get what pods leave. Parts of the plan that
// should wait carry a delay, and pods that will get a place by themselves are left out.
func Decide(s *snapshot.Snapshot, b Budget) Decision {
	held := wait.Pods(s)
	s = wait.Without(s, held)
	sorted := snapshot.Sort(s, b.Memory.Types())
	d := decide(sorted, b)
	d.Plan.Renumber(sorted.Given)
	d.Plan.Held = held
	return d
}

// Question is what a server of the expander grpc has to be asked about the snapshot before it is decided about; nil if nothing is
// open. Each answer, put into the snapshot, may open the next question.
func Question(s *snapshot.Snapshot, b Budget) *expand.Question {
	if !slices.Contains(s.Settings.Expanders, expand.GRPC) {
		return nil
	}
	s = wait.Without(s, wait.Pods(s))
	return provision.Question(snapshot.Sort(s, b.Memory.Types()), provision.Options{Effort: b.Steps, Memory: b.Memory})
}

// decide is Decide for a snapshot that is in order.
func decide(s snapshot.Sorted, b Budget) Decision {
	d := Decision{Plan: provision.Plan(s, provision.Options{Effort: b.Steps, Unadvised: b.Unadvised, Unproven: b.Unproven, Memory: b.Memory})}
	buffers := newFiller(s, &d.Plan)
	buffers.fill(b.Steps)
	wait.Claims(s.Snapshot, &d.Plan)
	if !b.Disrupt {
		return d
	}
	b.Sweep.Memory, b.Sweep.MovesWait = b.Memory, wait.InTransit(s.Snapshot)
	seen, planned := buffers.hosted()
	found := disrupt.Plan(seen, planned, b.Sweep)
	buffers.keep(&found, b.Steps)
	buffers.strip(found.Disruptions)
	d.Plan.Disruptions, d.Plan.Prospects = found.Disruptions, found.Prospects
	d.Plan.Solve.Steps += found.Steps
	d.Coverage = Coverage{Next: found.Next, Swept: found.Swept, Skipped: found.Skipped}
	d.Bound = found.Bound
	d.Waiting = wait.Disruptions(s.Snapshot, &d.Plan)
	return d
}
