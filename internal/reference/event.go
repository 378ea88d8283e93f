package reference

import (
	"fmt"
	"strings"
)

// Event is a kind of events that Tenon publishes.
type Event struct {
	Reason string
	// Warning says that the type is Warning, and not Normal.
	Warning bool
	// On are the kinds of objects that have it.
	On string
	// Text is what it says, or how it begins; words in capitals stand for something else.
	Text string
	// Remedy is what to do, or what happens next.
	Remedy string
}

// Events are those of every cloud.
func Events() []Event {
	return []Event{
		{"FailedScheduling", true, "Pod", "Failed to schedule pod, WHY", "the text says for each pool why it does not help, and the smallest change that would ([by symptom](../operating.md#a-pod-stays-pending))"},
		{"Nominated", false, "Pod", "Pod should schedule on: nodeclaim/NAME, node/NAME", "the scheduler binds the pod when the node is there"},
		{"ContradictingAnnotations", true, "Pod", "cluster-autoscaler.kubernetes.io/safe-to-evict says that the pod may be evicted, and karpenter.sh/do-not-disrupt that it may not: it is not evicted", "remove one of the two annotations"},
		{"InvalidDoNotDisruptAnnotation", true, "Pod", "Invalid karpenter.sh/do-not-disrupt annotation: WHY, ignoring annotation", "write `true` or a duration"},
		{"DoNotDisruptUntil", false, "Pod", "The karpenter.sh/do-not-disrupt grace period will elapse at TIME", "the node may be disrupted then"},
		{"DoNotDisruptGracePeriodElapsed", false, "Pod", "The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable", "the node may be disrupted"},
		{"Evicted", false, "Pod", "Evicted pod: WHY", "the pod's owner makes another"},
		{"Disrupted", false, "Pod", "Deleting the pod to accommodate the terminationTime TIME of the node", "the pod's owner makes another"},
		{"Surging", false, "Pod, Node, Deployment", "the pod waits for its replacement, or the Deployment makes one", "the pod is evicted when the other is Ready ([draining](draining.md))"},
		{"SurgeNotPossible", true, "Pod, Node", "Evicting without another pod in its place: WHY", "fix the cause that the text names"},

		{"NoCompatibleInstanceTypes", true, "NodePool", "no instance type meets the requirements, or fewer than `minValues` asks for", "`tenon validate` names the requirement"},
		{"LimitReached", true, "NodePool", "Pods wait for nodes that the limits forbid: WHY", "raise `spec.limits`"},
		{"OutOfStock", true, "NodePool", "Pods wait for nodes that the cloud cannot give now; WHY", "allow more types, zones or capacity types"},
		{"LaunchesRefused", true, "NodePool, EC2NodeClass", "the cloud's answer", "a permission, a quota, or the class; `tenon preflight`"},
		{"LaunchesResumed", false, "NodePool", "NodeClaims are launched again, or wanted no more", "nothing"},
		{"RolloutPaused", true, "NodePool", "why drifted nodes are not replaced", "fix the cause ([roll-outs](rollouts.md))"},
		{"RolloutResumed", false, "NodePool", "Drifted nodes are replaced again", "nothing"},
		{"NodeClassNotFound", true, "NodePool", "Failed resolving NodeClass NAME: WHY", "`nodeClassRef`"},
		{"NodeClassTerminating", true, "NodePool", "Failed resolving NodeClass NAME: NodeClass is Terminating", "make another class, and name it in `nodeClassRef`"},
		{"NodePriceRefused", true, "NodePool", "the annotation `tenon.sh/node-price` cannot be read", "correct it; the text says what counts meanwhile"},
		{"DriftAtLimitRefused", true, "NodePool", "the annotation `tenon.sh/drift-at-limit` cannot be read", "correct it; the text says what counts meanwhile"},
		{"PriceCeilingRefused", true, "NodePool", "the annotation `tenon.sh/price-ceiling` cannot be read", "correct it; the text says what counts meanwhile"},

		{"InsufficientCapacityError", true, "NodeClaim", "NodeClaim NAME event: the cloud's answer", "nothing: Tenon makes a claim for another offering"},
		{"NodeClassNotReady", true, "NodeClaim", "NodeClaim NAME event: the class is not ready", "the conditions of the class"},
		{"NodeClassReadinessUnknown", true, "NodeClaim", "Failed resolving NodeClass: WHY", "nothing: the class is being looked up, and the launch is tried again"},
		{"UnregisteredTaintMissing", true, "NodeClaim", "Missing karpenter.sh/unregistered taint which prevents registration related race conditions", "the bootstrap of the image: pods may have been bound before the node was ready"},
		{"FailedConsistencyCheck", true, "NodeClaim", "what the node has less than planned", "the image's reservations, or overlays"},
		{"TerminationGracePeriodExpiring", true, "NodeClaim, Node", "All pods will be deleted by TIME", "nothing: `terminationGracePeriod` is over then"},
		{"Finalized", false, "NodeClaim, NodePool, EC2NodeClass, Node", "Finalized FINALIZER", "nothing"},
		{ConditionReason, false, "NodeClaim, NodePool, EC2NodeClass, Node", "Status condition transitioned, Type: TYPE, Status: BEFORE -> NOW, Reason: REASON", "the message of the condition"},

		{"DisruptionBlocked", false, "NodeClaim, Node, NodePool, NodeGroup", "why the node is not disrupted", "[why is this node still here?](staying.md)"},
		{"Unconsolidatable", false, "NodeClaim, Node", "why the node is not consolidated", "[why is this node still here?](staying.md)"},
		{"DisruptionLaunching", false, "NodeClaim", "Launching NodeClaim: REASON", "a replacement boots; the other node is removed after that"},
		{"DisruptionWaitingReadiness", false, "NodeClaim", "Waiting on readiness to continue disruption", "the replacement boots"},
		{"DisruptionTerminating", false, "NodeClaim, Node", "Disrupting NodeClaim: REASON, Disrupting Node: REASON", "the node is drained"},
		{"ConsolidationApproved", false, "NodeClaim, Node, NodePool", "the score of the policy `Balanced`", "nothing"},
		{"FailedDraining", true, "Node", "Failed to drain node, WHY", "[draining](draining.md)"},
		{"DrainBlocked", true, "Node", "what holds the pods that are left", "[draining](draining.md)"},
		{"AwaitingVolumeDetachment", false, "Node", "Awaiting deletion of bound volumeattachments (NAMES)", "check the CSI driver, which has to detach them"},
		{"NodeRepairBlocked", true, "NodePool, NodeClaim, Node", "more than 20% nodes are unhealthy in the nodepool", "find out why the nodes are unhealthy"},
		{"NeverAllowsDisruption", true, "PodDisruptionBudget", "Can never allow a disruption: WHY", "loosen the budget, or add replicas"},

		{"TriggeredScaleUp", false, "Pod", "pod triggered scale-up: [{GROUP NUMBER->NUMBER (max: NUMBER)}]", "a group in mode cas grows for the pod"},
		{"NotTriggerScaleUp", false, "Pod", "pod didn't trigger scale-up: NUMBER WHY, NUMBER WHY", "says for how many groups in mode cas each reason applies; the event FailedScheduling names the groups"},
		{"ScaleDown", false, "Node, Pod, ConfigMap", "The node is drained and removed: nothing needs it, or The pod is evicted: node NAME is removed, because nothing needs it", "nothing"},
		{"ScaleDownEmpty", false, "ConfigMap", "Node group NAME: Node NAME is removed: nothing needs it", "nothing"},
		{"ScaleDownFailed", true, "Node", "the cloud's answer", "check the permission; Tenon tries again"},
		{"ScaleDownFailed", true, "Pod, Node", "The pod could not be evicted from node NAME, which is to be removed, within TIME; evictions are tried further", "what holds the pod is in the event `DrainBlocked` of the node ([draining](draining.md))"},
		{"ClusterAutoscalerCleanup", false, "Node", "Taints that a Cluster Autoscaler left on the node are removed, and the node takes pods again", "nothing"},
		{"ClusterUnhealthy", true, "ConfigMap", "Node group NAME: The group does not grow: NUMBER instances have no node and NUMBER have one that is not Ready, of NUMBER", "see whether instances can reach the API server and may join the cluster"},
		{"MaxNodesTotalReached", true, "ConfigMap", "Pods wait, and no group grows: the cluster has as many nodes as --max-nodes-total allows, NUMBER", "raise `--max-nodes-total`, or remove nodes"},
		{"PriorityConfigMapInvalid", true, "ConfigMap", "No priorities count: WHY", "correct the ConfigMap of the expander priority"},
		{"PriorityConfigMapNotMatchedGroup", true, "ConfigMap", "No pattern matches group NAME, which grows only where no other group can", "add a pattern, if that is not intended"},
		{"PriorityConfigMapNoGroupMatched", true, "ConfigMap", "No pattern matches a group in mode cas, so no priorities count", "correct the patterns"},
		{"ScaledUpGroup", false, "NodeGroup, ConfigMap", "The desired size is raised from NUMBER to NUMBER", "machines of the group join"},
		{"FailedToScaleUpGroup", true, "NodeGroup, ConfigMap", "the cloud's answer", "a permission, or a limit of the group"},
		{"ScaleUpFailed", true, "NodeGroup, ConfigMap", "The desired size is lowered from NUMBER to NUMBER, because instances do not come: WHY", "read AWS's message in the text; pods get other nodes ([when instances do not come](node-groups.md#when-instances-do-not-come))"},
		{"ScaleUpTimedOut", true, "NodeGroup, ConfigMap", "The desired size is lowered from NUMBER to NUMBER, because instances do not come: WHY", "as for `ScaleUpFailed`; AWS has given no reason"},
		{"FailedToRevertScaleUp", true, "NodeGroup, ConfigMap", "the cloud's answer", "a permission"},
		{"DeleteUnregistered", true, "NodeGroup, ConfigMap", "Instance ID is ended: it had no node within TIME", "find out why the machine did not join: role, image, network"},
		{"DeleteUnregisteredFailed", true, "NodeGroup, ConfigMap", "the cloud's answer", "a permission"},
		{"SizeChanged", false, "NodeGroup", "The desired size was NUMBER and is NUMBER now: WHY, and is kept", "nothing"},
	}
}

// ConditionReason stands for the type of each condition that has changed, which is the reason of the event about it.
const ConditionReason = "the condition's type"

// EventsPage is the page docs/reference/events.md, with what a cloud adds.
func EventsPage(events []Event) string {
	var page strings.Builder
	page.WriteString(generated + eventsHead)
	page.WriteString(heading("All reasons", "reason", "type", "on", "text", "what to do"))
	for _, e := range events {
		kind := "Normal"
		if e.Warning {
			kind = "Warning"
		}
		name := "`" + e.Reason + "`"
		if e.Reason == ConditionReason {
			name = e.Reason
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s | %s |\n", name, kind, e.On, cell(e.Text), cell(e.Remedy))
	}
	return page.String()
}

const eventsHead = `# Events

Every event that Tenon publishes: ` + "`kubectl get events --all-namespaces --field-selector reason=REASON`" + ` shows those of one reason. Words in capitals are placeholders. [By symptom](../operating.md#by-symptom)
begins with what you see.

For the same object and reason, an event is published at most once in two minutes, or in the period of its kind. Of many pods with one owner only some get their own event;
[what is bounded](metrics.md#events) says how many. ` + "`--disable-cluster-state-observability`" + ` leaves out the events about conditions and finalizers.
`
