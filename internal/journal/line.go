package journal

import (
	"time"

	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/internal/shadow"
)

// Line is one line of a journal. One of its parts is set.
type Line struct {
	// Seq numbers the lines of a journal that have a time, across restarts.
	Seq int64 `json:"seq,omitempty"`
	// Decision and Outcome are what happened; for a decision, Seq is its number.
	Decision *Decision `json:"decision,omitempty"`
	Outcome  *Outcome  `json:"outcome,omitempty"`
	// Start says that a controller began to record.
	Start *Start `json:"start,omitempty"`
	// Intervention is a change that a user made.
	Intervention *Intervention `json:"intervention,omitempty"`
	// Comparison is the comparison of shadow mode with the autoscaler beside it.
	Comparison *shadow.Report `json:"comparison,omitempty"`
	// Snapshot and Part are the input of a decision. Parts come before the first snapshot that
	// contains them.
	Snapshot *Contents `json:"snapshot,omitempty"`
	Part     *Part     `json:"part,omitempty"`
	// Broken says that a line at this place cannot be read, for example because it was cut off.
	Broken bool `json:"broken,omitempty"`
}

// Start says that a controller begins to record.
type Start struct {
	At time.Time `json:"at"`
	// Kept says where the journal is: a folder, or memory, where it is new in each process.
	Kept string `json:"kept"`
}

// Decision is what was decided, and why at that time. Prices are an hour, in the currency of Cost.
type Decision struct {
	At time.Time `json:"at"`
	// By is the controller: provisioner or disruption, in shadow mode comparison.
	By string `json:"by"`
	// Woke is the cause of the decision.
	Woke string `json:"woke,omitempty"`
	// TookMicros is how long the decision took.
	TookMicros int64 `json:"tookMicros"`
	// Same is the number of the earlier decision that was the same. Then nothing below is set.
	Same int64 `json:"same,omitempty"`
	// Snapshot and Plan are SHA-256 digests: of the snapshot as core/snapshot writes it, and of the plan by
	// Digest. Snapshot is empty if the snapshot was not kept.
	Snapshot    string       `json:"snapshot,omitempty"`
	Plan        string       `json:"plan,omitempty"`
	Effort      *Effort      `json:"effort,omitempty"`
	Cost        *Cost        `json:"cost,omitempty"`
	Launches    []Launch     `json:"launches,omitempty"`
	Placed      int          `json:"placed,omitempty"` // pods for existing nodes
	Held        int          `json:"held,omitempty"`   // pods that will probably get a place without a purchase
	Unplaced    []Unplaced   `json:"unplaced,omitempty"`
	Disruptions []Disruption `json:"disruptions,omitempty"`
	// Kept counts the nodes that stay, by the code of the reason.
	Kept map[string]int `json:"kept,omitempty"`
}

// Effort holds the bounds of the decision, which are needed to decide again.
type Effort struct {
	Steps     int64  `json:"steps,omitempty"`
	Unadvised bool   `json:"unadvised,omitempty"`
	Unproven  bool   `json:"unproven,omitempty"`
	Disrupt   bool   `json:"disrupt,omitempty"`
	Sweep     int64  `json:"sweep,omitempty"`
	After     string `json:"after,omitempty"`
}

func effortOf(b decide.Budget) *Effort {
	return &Effort{Steps: b.Steps, Unadvised: b.Unadvised, Unproven: b.Unproven, Disrupt: b.Disrupt, Sweep: b.Sweep.Steps, After: b.Sweep.After}
}

// Budget is the budget of the decision: unbounded if none was recorded.
func (e *Effort) Budget() decide.Budget {
	if e == nil {
		return decide.Budget{}
	}
	return decide.Budget{Steps: e.Steps, Unadvised: e.Unadvised, Unproven: e.Unproven, Disrupt: e.Disrupt, Sweep: disrupt.Budget{Steps: e.Sweep, After: e.After}}
}

// Cost is the price of the purchases, the proven bound on it, and the price of all nodes before and
// after.
type Cost struct {
	New        float64 `json:"newPerHour"`
	LowerBound float64 `json:"lowerBoundPerHour"`
	Before     float64 `json:"fleetPerHourBefore"`
	After      float64 `json:"fleetPerHourAfter"`
	// Currency of these and of all prices of the decision, in ISO 4217; empty if it is not known.
	Currency string `json:"currency,omitempty"`
}

// Launch is a number of nodes of one offer.
type Launch struct {
	Nodes        int     `json:"nodes"`
	Pool         string  `json:"nodePool"`
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"pricePerHour"` // of one node
	Pods         int     `json:"pods"`
	WaitsFor     string  `json:"waitsFor,omitempty"`
}

// Unplaced is a number of pods with the same verdict.
type Unplaced struct {
	Pods  int      `json:"pods"`
	Names []string `json:"names"` // some of them
	Why   string   `json:"why"`
}

// Disruption is a number of nodes that are removed together.
type Disruption struct {
	Reason       string   `json:"reason"`
	Decision     string   `json:"decision"`
	Nodes        []string `json:"nodes"`
	Replacements int      `json:"replacements,omitempty"`
	Evictions    int      `json:"evictions,omitempty"`
	Savings      float64  `json:"savingsPerHour"`
	WaitsFor     string   `json:"waitsFor,omitempty"`
}

// Outcome is the result of an action of a decision.
type Outcome struct {
	At time.Time `json:"at"`
	// Decision is the number of the decision; 0 if the process that made it has ended.
	Decision int64 `json:"decision,omitempty"`
	// Action is launch or disrupt.
	Action string `json:"action"`
	// Command identifies a disruption from its begin to its end.
	Command string `json:"command,omitempty"`
	// Result is one of the constants below.
	Result string `json:"result"`
	// Why is the cause of a failure.
	Why          string   `json:"why,omitempty"`
	NodePool     string   `json:"nodePool,omitempty"`
	NodeClaims   []string `json:"nodeClaims,omitempty"`
	Replacements []string `json:"replacements,omitempty"` // claims too
	Pods         int      `json:"pods,omitempty"`
	// Savings is what a disruption was expected to save an hour, Realised what it saved.
	Savings  *float64 `json:"savingsPerHour,omitempty"`
	Realised *float64 `json:"realisedPerHour,omitempty"`
}

// The results of actions.
const (
	Made      = "made"      // the claim is in the API server
	Dropped   = "dropped"   // it no longer held when it was to be carried out
	Failed    = "failed"    // a write failed
	Begun     = "begun"     // the disruption is under way
	Abandoned = "abandoned" // the disruption was taken back
	Over      = "over"      // the nodes are gone
)

// The actions.
const (
	ActionLaunch  = "launch"
	ActionResize  = "resize" // of a node group
	ActionDisrupt = "disrupt"
)

// Contents is a snapshot, as the parts of its file.
type Contents struct {
	Digest string   `json:"digest"`
	Parts  []string `json:"parts"`
}

// Part is a piece of snapshots, compressed.
type Part struct {
	Digest string `json:"digest"`
	Gzip   []byte `json:"gzip"`
}
