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

// Disruption is a set of nodes that should be given up together, with the replacements that must exist
// before their first pod is evicted. Disruptions of one plan are independent: no node or pod is in two of
// them, and each may fail alone.
//
// The controller that carries it out first checks that it still holds: every node of Nodes exists and meets
// the preconditions of its Removal, and the nodes of Moves meet those of their Placement. Before it deletes
// the claims of Nodes, it checks those of ToRemove. It drops a disruption that no longer holds, and decides
// again.
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
	// Guide are the nodes, by name, that kube-scheduler is to avoid while the pods move, but for the one whose pods are being
	// evicted; empty if the pods are not guided.
	Guide []string
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

// Delay is why a part of the plan waits, and until when at the latest, if that is known. The zero value is
// no delay.
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

// Decision is the result in the word that users know.
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

// The kinds. Blocked nodes may not be disrupted at all. Kept nodes may be, but it is not worth it or their
// pods fit nowhere else. Waiting nodes are examined again at a known time or when a budget allows it.
// Chosen nodes are part of a disruption.
const (
	Blocked Kind = "Blocked"
	Kept    Kind = "Kept"
	Waiting Kind = "Waiting"
	Chosen  Kind = "Chosen"
)

// Prospect is a plan's answer about one node: why it stays, or why it goes.
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
	// Unneeded: by the rules of Cluster Autoscaler, which its group has, nothing needs the node.
	Unneeded bool `json:",omitempty"`
}

// Skipped reports whether there was no effort left to look at it: what was said before stands.
func (p *Prospect) Skipped() bool { return p.Cause.Code == reason.NotLookedAt }

// Event is the reason of the node's event, as users know it. It is empty for chosen and waiting nodes, and
// for answers that users expect anyway.
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
