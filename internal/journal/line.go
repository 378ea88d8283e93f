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
	// Decision and Outcome are what happened; of a decision, Seq is its number.
	Decision *Decision `json:"decision,omitempty"`
	Outcome  *Outcome  `json:"outcome,omitempty"`
	// Start says that a controller began to record.
	Start *Start `json:"start,omitempty"`
	// Comparison is how shadow mode stands against the autoscaler beside it.
	Comparison *shadow.Report `json:"comparison,omitempty"`
	// Snapshot and Part are what a decision was made from. Parts come before the first snapshot
	// that has them.
	Snapshot *Contents `json:"snapshot,omitempty"`
	Part     *Part     `json:"part,omitempty"`
	// Broken says that a line stood here that cannot be read, as one that was cut off.
	Broken bool `json:"broken,omitempty"`
}

// Start is a controller that begins to record.
type Start struct {
	At time.Time `json:"at"`
	// Kept says where the journal is: a folder, or in memory, where it begins anew.
	Kept string `json:"kept"`
}

// Decision is what was decided, and why it was asked. Prices are an hour, in the currency of Cost.
type Decision struct {
	At time.Time `json:"at"`
	// By is the controller: provisioner or disruption, in shadow mode comparison.
	By string `json:"by"`
	// Woke is why it was decided then.
	Woke string `json:"woke,omitempty"`
	// TookMicros is how long the decision took.
	TookMicros int64 `json:"tookMicros"`
	// Same is the number of the decision before that says the same. Then nothing below is set.
	Same int64 `json:"same,omitempty"`
	// Snapshot and Plan are SHA-256 digests: of the snapshot as core/snapshot writes it, and of the plan as
	// Digest has it. Snapshot is empty if the snapshot was not kept.
	Snapshot    string       `json:"snapshot,omitempty"`
	Plan        string       `json:"plan,omitempty"`
	Effort      *Effort      `json:"effort,omitempty"`
	Cost        *Cost        `json:"cost,omitempty"`
	Launches    []Launch     `json:"launches,omitempty"`
	Placed      int          `json:"placed,omitempty"` // pods for nodes that are there
	Held        int          `json:"held,omitempty"`   // pods that are about to get a place without help
	Unplaced    []Unplaced   `json:"unplaced,omitempty"`
	Disruptions []Disruption `json:"disruptions,omitempty"`
	// Kept counts the nodes that stay, by the code of what keeps them.
	Kept map[string]int `json:"kept,omitempty"`
}

// Effort is what bounded the decision: the same is needed to decide again.
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

// Budget is the budget of the decision: without a bound if none was recorded.
func (e *Effort) Budget() decide.Budget {
	if e == nil {
		return decide.Budget{}
	}
	return decide.Budget{Steps: e.Steps, Unadvised: e.Unadvised, Unproven: e.Unproven, Disrupt: e.Disrupt, Sweep: disrupt.Budget{Steps: e.Sweep, After: e.After}}
}

// Cost is what the plan buys, what is proven about that, and what all nodes cost before and after.
type Cost struct {
	New        float64 `json:"newPerHour"`
	LowerBound float64 `json:"lowerBoundPerHour"`
	Before     float64 `json:"fleetPerHourBefore"`
	After      float64 `json:"fleetPerHourAfter"`
	// Currency of these and of all prices of the decision, as ISO 4217 has it; empty if it is not known.
	Currency string `json:"currency,omitempty"`
}

// Launch is nodes of one offer.
type Launch struct {
	Nodes        int     `json:"nodes"`
	Pool         string  `json:"nodePool"`
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"pricePerHour"` // of one
	Pods         int     `json:"pods"`
	WaitsFor     string  `json:"waitsFor,omitempty"`
}

// Unplaced is pods with one verdict.
type Unplaced struct {
	Pods  int      `json:"pods"`
	Names []string `json:"names"` // some of them
	Why   string   `json:"why"`
}

// Disruption is nodes that go together.
type Disruption struct {
	Reason       string   `json:"reason"`
	Decision     string   `json:"decision"`
	Nodes        []string `json:"nodes"`
	Replacements int      `json:"replacements,omitempty"`
	Evictions    int      `json:"evictions,omitempty"`
	Savings      float64  `json:"savingsPerHour"`
	WaitsFor     string   `json:"waitsFor,omitempty"`
}

// Outcome is what came of an action of a decision.
type Outcome struct {
	At time.Time `json:"at"`
	// Decision is the number of the decision; 0 if the process that made it has ended.
	Decision int64 `json:"decision,omitempty"`
	// Action is launch or disrupt.
	Action string `json:"action"`
	// Command identifies a disruption from its begin to its end.
	Command string `json:"command,omitempty"`
	// Result is one of the constants.
	Result string `json:"result"`
	// Why is the cause of a failure.
	Why          string   `json:"why,omitempty"`
	NodePool     string   `json:"nodePool,omitempty"`
	NodeClaims   []string `json:"nodeClaims,omitempty"`
	Replacements []string `json:"replacements,omitempty"` // claims too
	Pods         int      `json:"pods,omitempty"`
	// Savings is what a disruption was expected to save an hour, Realised what it did.
	Savings  *float64 `json:"savingsPerHour,omitempty"`
	Realised *float64 `json:"realisedPerHour,omitempty"`
}

// What actions come to.
const (
	Made      = "made"      // the claim is in the API server
	Dropped   = "dropped"   // it did not hold any more when it was carried out
	Failed    = "failed"    // a write failed
	Begun     = "begun"     // the disruption is under way
	Abandoned = "abandoned" // it was taken back
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
