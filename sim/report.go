package sim

import (
	"fmt"
	"strings"
	"time"

	"tenon/core/model"
)

// Report is the result of a run.
type Report struct {
	Seed                               uint64
	Simulated                          time.Duration
	Steps, Reconciles, Writes, Crashes int
	Launches, MostNodes, Evictions     int
	// Price is the cost of all machines for as long as they ran.
	Price model.Money
	// Alone is the cost of the baselines, and Beside this run's cost by then, before its rest; zero without
	// a baseline.
	Alone, Beside model.Money
	// PendingPodSeconds is the time that pods waited for a node, summed over pods.
	PendingPodSeconds int64
	Violations        []string
	Trace             uint64
}

// Report returns the result so far.
func (s *Sim) Report() Report {
	r := Report{
		Seed: s.options.Seed, Simulated: s.Clock.Since(s.begun),
		Steps: s.Steps, Reconciles: s.Reconciles, Writes: s.Writes, Crashes: s.Crashed,
		Launches: s.Cloud.Bought(), MostNodes: s.meter.most, Evictions: s.Evictions,
		Price: model.Money(s.meter.cost), PendingPodSeconds: int64(s.meter.pending), Trace: s.Trace(), Alone: s.alone,
	}
	if s.baseline != nil {
		r.Beside = s.baseline.paid
	}
	for _, v := range s.Violations {
		r.Violations = append(r.Violations, v.String())
	}
	return r
}

// String returns the report for people.
func (r Report) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %s simulated in %d steps, %d reconciles, %d writes, %d crashes\n", r.Seed, r.Simulated, r.Steps, r.Reconciles, r.Writes, r.Crashes)
	fmt.Fprintf(&text, "price %.2f, launches %d, at most %d nodes, evictions %d, pending pod seconds %d\n", r.Price.Float(), r.Launches, r.MostNodes, r.Evictions, r.PendingPodSeconds)
	if r.Alone > 0 {
		fmt.Fprintf(&text, "the baseline's price %.2f, beside %.2f\n", r.Alone.Float(), r.Beside.Float())
	}
	for _, v := range r.Violations {
		fmt.Fprintf(&text, "VIOLATION %s\n", v)
	}
	fmt.Fprintf(&text, "trace %016x\n", r.Trace)
	return text.String()
}
