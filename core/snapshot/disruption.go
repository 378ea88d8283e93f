package snapshot

import (
	"math"
	"time"

	"tenon/core/reason"
)

// Policy says which of a pool's nodes consolidation may take away.
type Policy string

// The policies, by the names that users write.
const (
	WhenEmpty                Policy = "WhenEmpty"
	WhenEmptyOrUnderutilized Policy = "WhenEmptyOrUnderutilized"
	Balanced                 Policy = "Balanced"
)

// Unlimited is an allowance without an end.
const Unlimited = math.MaxInt32

// Consolidation is what a pool says about giving up its nodes.
type Consolidation struct {
	Policy Policy `json:"policy,omitempty"`
	// After is how long a node must have been without pods coming or going; nil means never.
	After *time.Duration `json:"after,omitempty"`
	// Allowed is how many of its nodes may be disrupted at a time, by reason, as its budgets
	// have it at Snapshot.Now; nodes that are being disrupted already are part of it.
	Allowed Allowance `json:"allowed"`
	// Turns is when a budget begins or ends next by its schedule; zero without one.
	Turns time.Time `json:"turns,omitzero"`
	// Broken is what is wrong with the budgets: then nothing is allowed. Nil is nothing.
	Broken *reason.BrokenBudgets `json:"broken,omitempty"`
	// Pace bounds the roll-out to drifted nodes beside the budgets; nil is without bound.
	Pace *Pace `json:"pace,omitempty"`
	// DeleteFirst: a drifted node may go before its replacement is bought, where the pool's
	// limits leave no room for both.
	DeleteFirst bool `json:"deleteFirst,omitempty"`
	// Caution is what an eviction has to save, in thousandths of what it would have to
	// otherwise: more where moves have brought less than was expected of them. Less than a
	// thousand, and so zero too, is a thousand.
	Caution int `json:"caution,omitempty"`
}

// Pace is how many more drifted nodes of a pool may be given up now, and why not more.
type Pace struct {
	More    int            `json:"more"`
	Rollout reason.Rollout `json:"rollout"`
}

// FullConfidence is the caution of a pool whose moves have brought what was expected.
const FullConfidence = 1000

// Allowance is a number of nodes by reason.
type Allowance struct {
	Empty         int `json:"empty"`
	Drifted       int `json:"drifted"`
	Underutilized int `json:"underutilized"`
}

// Life is what is known of a node beside its pods when the question is whether it may go.
type Life struct {
	// Quiet is since when no pod has come to the node or left it; zero until it is in service.
	Quiet time.Time `json:"quiet,omitzero"`
	// Drifted is why it no longer is what its pool or class asks for, and since when.
	Drifted string    `json:"drifted,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	// Underway is the reason for which it is being disrupted: its pods have places elsewhere.
	Underway string `json:"underway,omitempty"`
	// Awaits: the node is being disrupted and stays until its replacements are in service, or the claim has
	// lost its node and its removal has not begun.
	Awaits bool `json:"awaits,omitempty"`
	// Protected nodes have the annotation do-not-disrupt, or Cluster Autoscaler's scale-down-disabled.
	Protected bool `json:"protected,omitempty"`
	// Kept: what protects the node is scale-down-disabled alone.
	Kept bool `json:"kept,omitempty"`
	// Unneeded is since when nothing needs the node of a group that is managed by the rules of Cluster Autoscaler; zero if
	// something does, or if that is not known yet.
	Unneeded time.Time `json:"unneeded,omitzero"`
	// Bounded nodes have a termination grace period: no pod can hold them for ever.
	Bounded bool `json:"bounded,omitempty"`
	// Nominated is until when it waits for pods that were promised a place on it.
	Nominated time.Time `json:"nominated,omitzero"`
	// Rearranged is when disruptions brought pods here, the first one first; the pods that came
	// since one of them are the ones that it moved.
	Rearranged []time.Time `json:"rearranged,omitempty"`
	// Expires is when it will be deleted, with the pods that are on it.
	Expires time.Time `json:"expires,omitzero"`
	// Unready nodes do not report that they are well; Terminating is an instance that is
	// being shut down.
	Unready     bool `json:"unready,omitempty"`
	Terminating bool `json:"terminating,omitempty"`
	// Unborn claims have no Node yet.
	Unborn bool `json:"unborn,omitempty"`
}

// Counts reports whether limits count the node. A node stops counting once its removal has begun, unless its pool says otherwise.
func (n *Node) Counts() bool { return !n.Leaving || n.Life.Awaits }

// Counts reports whether the pool's own limits count one of its nodes. The limit of a static pool is on how many there are at a time: it counts
// those that leave until they are gone.
func (p *Pool) Counts(n *Node) bool { return n.Counts() || p.Replicas != nil }

// Tie is what binds a pod to its node: what becomes of the pod if the node goes, and who
// would have a say. The zero value is a pod whose eviction costs nothing.
type Tie struct {
	// Returns: its controller will make another one, which needs a place.
	Returns bool `json:"returns,omitempty"`
	// Refused is why no other place can be looked for; see Pod.Refused.
	Refused reason.Obstacles `json:"refused,omitempty"`
	// Asked pods leave by eviction, so that disruption budgets have a say.
	Asked bool `json:"asked,omitempty"`
	// Protected pods have the annotation do-not-disrupt: until a time, or without end if
	// it is zero.
	Protected bool      `json:"protected,omitempty"`
	Until     time.Time `json:"until,omitzero"`
	// Unsafe: what protects the pod is Cluster Autoscaler's annotation safe-to-evict alone.
	Unsafe bool `json:"unsafe,omitempty"`
	// Drain is what Cluster Autoscaler's rules ask about the pod; nil if it gives them no cause to hold its node.
	Drain *DrainFacts `json:"drain,omitempty"`
	// Budgets that cover the pod, by their names in its namespace.
	Budgets []string `json:"budgets,omitempty"`
	// Promised pods are not there yet: their node waits for them.
	Promised bool `json:"promised,omitempty"`
	// Virtual pods only stand for the room that a buffer keeps.
	Virtual bool `json:"virtual,omitempty"`
	// Cost of its eviction, in parts of OrdinaryCost.
	Cost int64 `json:"cost,omitempty"`
}

// OrdinaryCost is the cost of evicting a pod without a priority and without a deletion cost.
const OrdinaryCost = 1 << 27

// Holds reports whether the pod is protected at a time.
func (t *Tie) Holds(now time.Time) bool {
	return t.Protected && (t.Until.IsZero() || now.Before(t.Until))
}

// Budget is a PodDisruptionBudget.
type Budget struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Allowed is how many of its pods may be evicted now.
	Allowed int32 `json:"allowed"`
	// Never: its spec alone says that no eviction is ever allowed.
	Never bool `json:"never,omitempty"`
}

// Key is namespace/name.
func (b *Budget) Key() string { return b.Namespace + "/" + b.Name }
