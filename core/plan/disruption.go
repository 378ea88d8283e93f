package plan

import (
	"time"

	"tenon/core/model"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Reason is why nodes are given up voluntarily, as users know it.
type Reason string

// The reasons.
const (
	Empty         Reason = "Empty"
	Drifted       Reason = "Drifted"
	Underutilized Reason = "Underutilized"
)

// Disruption is nodes that should be given up together, with what has to be there before
// the first of their pods is evicted. Disruptions of one plan do not touch each other: no
// node or pod is in two of them, and each may fail alone.
//
// The controller that carries it out checks first that it still holds: every node of Nodes is there,
// and meets the preconditions of its Removal, as the nodes of Moves meet those of their Placement; and
// once more, before the claims of Nodes are deleted, those of ToRemove. What no longer holds is dropped,
// and decided about anew.
type Disruption struct {
	Reason Reason
	// Nodes go together, by name.
	Nodes []Removal
	// Replacements have to be initialized before the first eviction. Their Pods and those
	// of Moves are all that come back; together they are the evictions.
	Replacements []Claim
	Moves        []Placement
	// Evict are the pods in the order in which they are to be evicted, so that kube-scheduler leaves room
	// for each; empty if any order will do.
	Evict []snapshot.PodIndex
	// DeleteFirst: limits leave no room for Replacements beside Nodes. They are bought once the
	// removal of Nodes has begun, for the pods that come back.
	DeleteFirst bool
	// Savings an hour, if the cloud chooses the cheapest offers.
	Savings model.Money
	// Score is set for pools with the policy Balanced, by pool.
	Scores []Score
	// Delay is why it is not to be begun now.
	Delay Delay
}

// Delay is for which reason something waits although it should be done, and until when at the
// latest, if that is known. The zero value is no delay.
type Delay struct {
	Code  reason.Code
	Until time.Time
}

// Now reports whether the disruption is to be begun now.
func (d *Disruption) Now() bool { return d.Delay.Code == reason.None }

// Removal is a node to be given up.
type Removal struct {
	Node  string
	Claim string
	Pool  string
	Price model.Money
	// Pods are all that are expected there, daemons included, as indexes into Snapshot.Pods,
	// ascending.
	Pods []snapshot.PodIndex
}

// Score is how the savings of a disruption compare with what it disturbs, for a pool.
type Score struct {
	Pool string
	reason.Shares
}

// Decision is what is done, by the word that users know.
func (d *Disruption) Decision() string {
	if len(d.Replacements) > 0 && !d.DeleteFirst {
		return "replace"
	}
	return "delete"
}

// Evictions is how many pods move.
func (d *Disruption) Evictions() int {
	n := 0
	for i := range d.Replacements {
		n += len(d.Replacements[i].Pods)
	}
	for i := range d.Moves {
		n += len(d.Moves[i].Pods)
	}
	return n
}

// Kind says what sort of answer a prospect is.
type Kind string

// The kinds. Blocked nodes may not be disrupted at all, kept ones may and are not worth it
// or fit nowhere, waiting ones will be looked at again at a known time or when a budget
// lets go, and chosen ones are part of a disruption.
const (
	Blocked Kind = "Blocked"
	Kept    Kind = "Kept"
	Waiting Kind = "Waiting"
	Chosen  Kind = "Chosen"
)

// Prospect is what is in store for a node: why it is still here, or why it will not be.
type Prospect struct {
	Node  string
	Claim string
	Pool  string
	Kind  Kind
	// Reason is for which it would go, empty if for none.
	Reason Reason
	// Cause is what keeps it; none of a chosen node.
	Cause reason.Cause
	// Until is when the answer may change although nothing happens.
	Until time.Time
	// Disruption is its index in the plan if it is chosen.
	Disruption int
}

// Skipped reports whether there was no effort left to look at it: what was said before stands.
func (p *Prospect) Skipped() bool { return p.Cause.Code == reason.NotLookedAt }

// Event is the reason of the event that tells of it, as users know it; empty where there is
// none. What is chosen or waits has none, and neither has what users expect anyway.
func (p *Prospect) Event() string {
	switch p.Cause.Code {
	case reason.None, reason.NotManaged, reason.BeingDisrupted, reason.PoolStatic, reason.TakesPods:
		return ""
	}
	switch p.Kind {
	case Blocked:
		return "DisruptionBlocked"
	case Kept:
		return "Unconsolidatable"
	}
	return ""
}
