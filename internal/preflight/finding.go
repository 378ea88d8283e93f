// Package preflight says what a cluster lacks for the controller to work in it: definitions, rights, a version
// that is supported, and that no other autoscaler is in the way. What is missing is found here in seconds, and
// not in a log line an hour after the installation.
//
// It only reads: it sends no objects but access reviews. Each cloud checks its own account, and answers
// with the same findings.
package preflight

import "slices"

// Level says how serious a finding is.
type Level string

// The levels. Skipped is what could not be looked at, which is neither good nor bad.
const (
	OK      Level = "ok"
	Warning Level = "warning"
	Failed  Level = "failed"
	Skipped Level = "skipped"
)

// Finding is the answer of one check.
type Finding struct {
	// Check is its name, which stays the same between versions.
	Check string `json:"check"`
	Level Level  `json:"level"`
	// Text is what was found, Means what follows from it, and Remedy what to do.
	Text   string `json:"text"`
	Means  string `json:"means,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Report is all that was found, in the order of the checks.
type Report struct {
	Findings []Finding `json:"findings"`
}

// Count is how many findings have a level.
func (r Report) Count(level Level) int {
	n := 0
	for _, f := range r.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// Has reports whether a finding has one of the levels.
func (r Report) Has(levels ...Level) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return slices.Contains(levels, f.Level) })
}
