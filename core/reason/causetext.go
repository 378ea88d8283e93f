package reason

import (
	"fmt"
	"strings"
)

// fixed are the texts of causes without operands.
var fixed = map[Code]string{
	NotManaged:                  "Node isn't managed by karpenter",
	NodeMissing:                 "Nodeclaim does not have an associated node",
	NotInitialized:              "Node isn't initialized",
	NodeLeaving:                 "Node is deleting or marked for deletion",
	NodeNominated:               "Node is nominated for a pending pod",
	NodeProtected:               `Disruption is blocked through the "karpenter.sh/do-not-disrupt" annotation`,
	ScaleDownDisabledAnnotation: `Disruption is blocked through the "cluster-autoscaler.kubernetes.io/scale-down-disabled" annotation`,
	ScaleDownDisabled:           "Groups in mode cas do not shrink: --scale-down-enabled is false",
	ScaleDownUnreadyDisabled:    "Node is not Ready, and --scale-down-unready-enabled is false: ScaleDownUnreadyDisabled",
	NotUnneededLongEnough:       "Nothing needs the node, but not for long enough: NotUnneededLongEnough",
	NotUnreadyLongEnough:        "Nothing needs the node, which is not Ready, but not for long enough: NotUnreadyLongEnough",
	ScaleDownInCooldown:         "Nothing needs the node, which waits for a delay after a change of a group",
	PoolLabelMissing:            "Node doesn't have required label (label=karpenter.sh/nodepool)",
	ActivityUnknown:             "It is not known yet when a pod has last come or gone",
	RecentActivity:              "A pod has come or gone within consolidateAfter",
	NotLookedAt:                 "Not looked at yet",
	RelatedPodsFirst:            "Waits for related pods (spread, affinity) to move first",
	PoolUnjudged:                "It is not known yet whether a new pool can be used",
	WorkloadsJoin:               "Several workloads are new, and others may follow",
	PodsFollow:                  "More pods may follow at once",
	PlaceHandedOver:             "A pod of the same workload ends, and leaves its place to this one",
	PlacesArranged:              "The disruption of their nodes has found places for the pods",
	BurstGoesOn:                 "More pods are coming, and nodes for all of them together are cheaper",
	PlacesLost:                  "The pods have lost their places, and the room that others leave is known in a moment",
	LaunchesRefused:             "The last launches for the pods failed",
	GroupsFreed:                 "Another autoscaler has just left a group, and others of its groups may follow",
	PodsArriving:                "Pods are on their way to their places or have lost them, or moves before it are not over",
	PodsLeaving:                 "Workloads are being scaled down, and many of their pods have yet to end",
	NodesFreeSoon:               "Other nodes of the pool are free to go in a moment",
	OthersReplaced:              "Other nodes are replaced first, so that few are paid for twice",
	SurplusReplicas:             "The pool has more nodes than replicas",
	NoReplica:                   "No replica can be launched in its place",
	TakesPods:                   "Takes pods of other nodes",
	NotCheaper:                  notCheaper,
	SavingsTooSmall:             notCheaper + ": too little would be saved to move its pods",
	NotLanding:                  notCheaper + ": kube-scheduler would spread its pods so that some find no room",
	RecentlyMoved:               notCheaper + ": its pods have been moved here recently",
	SpotToSpotDisabled:          "SpotToSpotConsolidation is disabled, can't replace a spot node with a spot node",
}

const notCheaper = "Can't replace with a cheaper node"

// withWhere are the texts of causes that are about one thing.
var withWhere = map[Code]string{
	BeingDisrupted:              "Node is being disrupted: %s",
	PoolNotFound:                "NodePool not found (NodePool=%s)",
	PodProtected:                `Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=%s)`,
	NotSafeToEvictAnnotation:    `Pod has "cluster-autoscaler.kubernetes.io/safe-to-evict" annotation "false": NotSafeToEvictAnnotation (Pod=%s)`,
	ControllerNotFound:          "The controller of a pod is not there: ControllerNotFound (Pod=%s)",
	MinReplicasReached:          "The controller of a pod has fewer replicas than min-replica-count: MinReplicasReached (Pod=%s)",
	BlockedByOnCompletionPod:    `Pod has "cluster-autoscaler.kubernetes.io/safe-to-evict" annotation "on-completion" and has not ended: BlockedByOnCompletionPod (Pod=%s)`,
	NotReplicated:               "No known controller would make the pod again: NotReplicated (Pod=%s)",
	UnmovableKubeSystemPod:      "Pod of kube-system without a PodDisruptionBudget: UnmovableKubeSystemPod (Pod=%s)",
	LocalStorageRequested:       "Pod has local storage: LocalStorageRequested (Pod=%s)",
	SeveralPodDisruptionBudgets: "Eviction does not support multiple PDBs (PodDisruptionBudget(s)=[%s])",
	PodDisruptionBudget:         "Pdb prevents pod evictions (PodDisruptionBudget=[%s])",
	PodCame:                     "Pod came after the decision (Pod=%s)",
	NodeGone:                    "Node is gone (Node=%s)",
	ReceiverClosed:              "Node takes no pods any more (Node=%s)",
	ReceiverFull:                "Node has no room for the pods any more (Node=%s)",
	PoolGone:                    "pool %s is gone",
	PoolChanged:                 "pool %s has changed",
	GroupChanged:                "node group %s has changed",
	GroupFloor:                  "Node group %q has no more instances than its minimum",
	LimitTaken:                  "the limit of %s leaves no room",
	NameTaken:                   "there is a claim %s already",
	ClaimInvolved:               "NodeClaim is part of another disruption (NodeClaim=%s)",
	PoolStatic:                  "NodePool %q is static",
	ConsolidationDisabled:       "NodePool %q has consolidation disabled",
	PriceUnknown:                "Instance Type %q not found",
	PoolNotReady:                "NodePool %q is not ready: nothing cheaper can be bought from it now",
	NodeLabelMissing:            "Node does not have label %q",
	HoldsBuffer:                 "Node %q has buffer pods",
	RoomComes:                   "Limits of nodepool %q count nodes that are leaving: a replacement is bought once these are gone",
	NoRoomBeside:                "Limits of nodepool %q leave no room for a replacement beside it: its nodes go one at a time, while all others are in service",
	NodeNotEmpty:                "NodePool %q has consolidation policy WhenEmpty, but node is not empty",
}

// Text is what keeps the node in words, those of the API's events where it has some.
func (c *Cause) Text() string {
	if text, found := fixed[c.Code]; found {
		return text
	}
	if format, found := withWhere[c.Code]; found {
		return fmt.Sprintf(format, c.Where)
	}
	switch c.Code {
	case None:
		return ""
	case DisruptionBudget:
		text := fmt.Sprintf("No allowed disruptions for disruption reason %s due to blocking budget", c.Where)
		if c.Budgets != nil {
			text += ": " + c.Budgets.Text()
		}
		return text
	case NotUnderutilized:
		return fmt.Sprintf("Pods ask for %.1f%% of the node, more than the threshold of %.1f%%: NotUnderutilized", float64(c.Have)/10, float64(c.Want)/10)
	case MinimalResourceLimitExceeded:
		return fmt.Sprintf("Nothing needs the node, but the cluster would have less %s without it than the minimum in %s: MinimalResourceLimitExceeded", c.Where, TotalFlag(c.Where))
	case TooManyScaleDowns:
		return fmt.Sprintf("Nothing needs the node, which waits for %d others to go: no more than %d may at a time", c.Have, c.Want)
	case RolloutPace:
		return c.Rollout.Text()
	case ScoreTooLow:
		return fmt.Sprintf("Savings are too small for the disruption, score %.2f < threshold %.2f (k: %d, savings %.1f%%, disruption %.1f%%)",
			c.Shares.Value(), 1/float64(c.Want), c.Want, float64(100*c.Shares.Savings), float64(100*c.Shares.Disruption))
	case TooFewCheaperTypes:
		return "Filtering by price: " + Reason{Code: MinimumNotMet, Where: c.Where, Have: c.Have, Want: c.Want}.Text()
	case SpotToSpotFewTypes:
		return fmt.Sprintf("SpotToSpotConsolidation requires %d cheaper instance type options than the current candidate to consolidate, got %d", c.Want, c.Have)
	case PodsWithoutOtherPlace:
		return c.stranded()
	}
	return string(c.Code)
}

// stranded names pods without another place, and counts the rest.
func (c *Cause) stranded() string {
	parts := make([]string, len(c.Pods))
	for i := range c.Pods {
		parts[i] = c.Pods[i].Pod + " => " + c.Pods[i].Why.Text()
	}
	text := "Not all pods would schedule, " + strings.Join(parts, " ")
	if more := int(c.Have) - len(parts); more > 0 {
		text += fmt.Sprintf(" and %d other(s)", more)
	}
	return text
}

// Text is why the pod has no other place.
func (r *Refusal) Text() string {
	switch {
	case r.Closest != nil:
		return "no other node has a place for it; pool " + r.Closest.Pool + ": " + r.Closest.Brief()
	case r.General.Code == MinimumNotMet && r.General.Want == 0:
		return "minValues requirement is not met"
	}
	return "no other node has a place for it; " + r.General.Text()
}
