package reason

import "slices"

// Causes that keep a node, in the order in which they are checked. First, what the node is, and what
// forbids disrupting it.
const (
	NotManaged                  Code = "NotManaged"
	NodeMissing                 Code = "NodeMissing"    // a claim whose node has not joined
	BeingDisrupted              Code = "BeingDisrupted" // Where: for which reason
	NotInitialized              Code = "NotInitialized"
	NodeLeaving                 Code = "NodeLeaving"
	NodeNominated               Code = "NodeNominated"
	NodeProtected               Code = "NodeProtected"
	PoolLabelMissing            Code = "PoolLabelMissing"
	PoolNotFound                Code = "PoolNotFound"                // Where: the pool
	PodProtected                Code = "PodProtected"                // Where: the pod
	SeveralPodDisruptionBudgets Code = "SeveralPodDisruptionBudgets" // Where: the budgets
	PodDisruptionBudget         Code = "PodDisruptionBudget"         // Where: the budget
)

// What holds a node by the names of Cluster Autoscaler. The first two count for every node, the others for groups that are
// managed by its rules.
const (
	ScaleDownDisabledAnnotation Code = "ScaleDownDisabledAnnotation"
	NotSafeToEvictAnnotation    Code = "NotSafeToEvictAnnotation" // Where: the pod, as for all that follow
	ControllerNotFound          Code = "ControllerNotFound"
	MinReplicasReached          Code = "MinReplicasReached"
	BlockedByOnCompletionPod    Code = "BlockedByOnCompletionPod"
	NotReplicated               Code = "NotReplicated"
	UnmovableKubeSystemPod      Code = "UnmovableKubeSystemPod"
	LocalStorageRequested       Code = "LocalStorageRequested"
)

// Why a node stays of a group that is managed by the rules of Cluster Autoscaler, as long as no pod holds it.
const (
	ScaleDownDisabled        Code = "ScaleDownDisabled" // for all such groups
	ScaleDownUnreadyDisabled Code = "ScaleDownUnreadyDisabled"
	NotUnderutilized         Code = "NotUnderutilized" // Have: utilization, Want: threshold; in thousandths
	NotUnneededLongEnough    Code = "NotUnneededLongEnough"
	NotUnreadyLongEnough     Code = "NotUnreadyLongEnough"
	ScaleDownInCooldown      Code = "ScaleDownInCooldown"
	TooManyScaleDowns        Code = "TooManyScaleDowns" // Have: nodes that leave, Want: how many may
	// Where: the resource of which the cluster would have too little
	MinimalResourceLimitExceeded Code = "MinimalResourceLimitExceeded"
)

// Why a decision does not hold any more.
const (
	PodCame        Code = "PodCame"        // Where: the pod, to a node that goes
	NodeGone       Code = "NodeGone"       // Where: the node, one that goes
	ReceiverClosed Code = "ReceiverClosed" // Where: the node, one that was to take pods
	ReceiverFull   Code = "ReceiverFull"   // Where: the same
	PoolGone       Code = "PoolGone"       // Where: the pool that a claim was to be made from
	PoolChanged    Code = "PoolChanged"    // Where: the same
	GroupChanged   Code = "GroupChanged"   // Where: the group whose size was to be changed
	LimitTaken     Code = "LimitTaken"     // Where: the resource, of which other claims have taken what was left
	NameTaken      Code = "NameTaken"      // Where: the claim
	ClaimInvolved  Code = "ClaimInvolved"  // Where: the claim, one of a node that goes
)

// Why consolidation leaves a node alone, or does so for now.
const (
	PoolStatic            Code = "PoolStatic"            // Where: the pool
	ConsolidationDisabled Code = "ConsolidationDisabled" // Where: the pool
	PriceUnknown          Code = "PriceUnknown"          // Where: the instance type
	NodeLabelMissing      Code = "NodeLabelMissing"      // Where: the label
	NodeNotEmpty          Code = "NodeNotEmpty"          // Where: the pool, whose policy is WhenEmpty
	ActivityUnknown       Code = "ActivityUnknown"
	RecentActivity        Code = "RecentActivity"
)

// What a node that could go waits for.
const (
	NotLookedAt      Code = "NotLookedAt"
	DisruptionBudget Code = "DisruptionBudget" // Where: the reason it holds for; Budgets: what is wrong with them
	RolloutPace      Code = "RolloutPace"      // Rollout: how it stands
	RelatedPodsFirst Code = "RelatedPodsFirst"
	SurplusReplicas  Code = "SurplusReplicas"
	NoRoomBeside     Code = "NoRoomBeside" // Where: the pool, whose limits leave no room for a replacement
	RoomComes        Code = "RoomComes"    // Where: the pool, whose limit counts nodes that are leaving
	GroupFloor       Code = "GroupFloor"   // Where: the group, which would get smaller than its minimum
)

// Why parts of a plan wait: decisions first, then pods, claims and moves.
const (
	PoolUnjudged  Code = "PoolUnjudged"
	WorkloadsJoin Code = "WorkloadsJoin"
	PodsFollow    Code = "PodsFollow"

	PlaceHandedOver Code = "PlaceHandedOver"

	PlacesArranged  Code = "PlacesArranged"
	BurstGoesOn     Code = "BurstGoesOn"
	PlacesLost      Code = "PlacesLost"
	LaunchesRefused Code = "LaunchesRefused"
	GroupsFreed     Code = "GroupsFreed"

	PodsArriving   Code = "PodsArriving"
	PodsLeaving    Code = "PodsLeaving"
	NodesFreeSoon  Code = "NodesFreeSoon"
	OthersReplaced Code = "OthersReplaced"
)

// Why a node that could go is not worth it, or has no substitute.
const (
	NoReplica             Code = "NoReplica"
	TakesPods             Code = "TakesPods"
	HoldsBuffer           Code = "HoldsBuffer" // Where: the node
	NotCheaper            Code = "NotCheaper"
	SavingsTooSmall       Code = "SavingsTooSmall"
	RecentlyMoved         Code = "RecentlyMoved"
	NotLanding            Code = "NotLanding"
	ScoreTooLow           Code = "ScoreTooLow"           // Shares, Want: how many times the disruption's share may be the savings'
	TooFewCheaperTypes    Code = "TooFewCheaperTypes"    // Where: the label, Have and Want: its values
	SpotToSpotDisabled    Code = "SpotToSpotDisabled"    // by the feature gate
	SpotToSpotFewTypes    Code = "SpotToSpotFewTypes"    // Have, Want: instance types
	PodsWithoutOtherPlace Code = "PodsWithoutOtherPlace" // Pods, Have: how many in all
)

// Cause is what keeps a node, with its operands. Text puts it into words.
type Cause struct {
	Code Code
	// Where names what is concerned; which it is depends on the code.
	Where      string
	Have, Want int64
	// Pods are some of those that have no other place.
	Pods []Stranded
	// Shares are set for ScoreTooLow.
	Shares Shares
	// Budgets is set for DisruptionBudget, if the pool's budgets cannot be read.
	Budgets *BrokenBudgets `json:",omitempty"`
	// Rollout is set for RolloutPace.
	Rollout *Rollout `json:",omitempty"`
}

// Stranded is a pod that has no place but the one where it is, and why.
type Stranded struct {
	Pod string // namespace/name
	Why Refusal
}

// Refusal is why no pool would take a pod: General, or what the closest pool says.
type Refusal struct {
	General Reason
	Closest *PoolVerdict
}

// Shares are of a whole pool: what a disruption saves, and what it disturbs.
type Shares struct{ Savings, Disruption float64 }

// Value is the score: how the savings compare with the disruption.
func (s Shares) Value() float64 {
	if s.Savings <= 0 {
		return 0
	}
	return s.Savings / s.Disruption
}

// Names are the pods, budgets, pools and so on that the cause is about.
func (c *Cause) Names() []string {
	var out []string
	if c.Where != "" {
		out = append(out, c.Where)
	}
	for i := range c.Pods {
		out = append(out, c.Pods[i].Pod)
	}
	return slices.Clip(out)
}
