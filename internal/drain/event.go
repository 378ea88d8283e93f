package drain

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/podpolicy"
	"tenon/internal/telemetry"
)

// Reasons of events. Those that start with Drain, Never and Surg are ours.
const (
	reasonExpiring = "TerminationGracePeriodExpiring"
	reasonFailed   = "FailedDraining"
	reasonBlocked  = "DrainBlocked"
	reasonNever    = "NeverAllowsDisruption"
	reasonEvicted  = "Evicted"
	reasonDeleted  = "Disrupted"
	reasonVolumes  = "AwaitingVolumeDetachment"
	reasonSurging  = "Surging"
	reasonUnsurged = "SurgeNotPossible"

	reasonScaleDown       = "ScaleDown"
	reasonScaleDownFailed = "ScaleDownFailed"
)

// rareSurge limits how often an event says that a pod waits for another: one is published at the beginning,
// and the claim says it all the time.
const rareSurge = 15 * time.Minute

// rareNever limits how often an event on a budget says that it blocks a drain: the cause does not
// change by itself.
const rareNever = 15 * time.Minute

// Expiring says on a node or claim when its pods must be gone.
func Expiring(object client.Object, deadline time.Time) telemetry.Event {
	return telemetry.Warning(object, reasonExpiring, "All pods will be deleted by "+stamp(deadline), object.GetName())
}

// Waits counts the pods for which a node waits. The three kinds of FailedDraining have
// different keys, so that the common one does not hide the others.
func Waits(node *corev1.Node, pods int) telemetry.Event {
	return telemetry.Warning(node, reasonFailed, fmt.Sprintf("Failed to drain node, %d pods are waiting to be evicted", pods), node.Name)
}

// Violates says that a budget forbade an eviction.
func Violates(node *corev1.Node, pod *corev1.Pod) telemetry.Event {
	text := fmt.Sprintf("Failed to drain node, evicting pod violates a PDB (Pod=%s)", nameOf(pod))
	return telemetry.Warning(node, reasonFailed, text, node.Name, "budget")
}

// Overlaps says that more than one budget covers a pod.
func Overlaps(node *corev1.Node, pod *corev1.Pod) telemetry.Event {
	text := fmt.Sprintf("Failed to drain node, eviction does not support multiple PDBs (Pod=%s)", nameOf(pod))
	return telemetry.Warning(node, reasonFailed, text, node.Name, "budgets")
}

// Blocked says what holds up a drain, in the words of Explain.
func Blocked(node *corev1.Node, explanation string) telemetry.Event {
	return telemetry.Warning(node, reasonBlocked, explanation, node.Name)
}

// NeverAllows says on budgets that can never allow a disruption, once for each budget, which node
// waits in vain.
func NeverAllows(node *corev1.Node, s State, holds []Hold) []telemetry.Event {
	var budgets []*policyv1.PodDisruptionBudget
	pods := map[*policyv1.PodDisruptionBudget][]string{}
	for _, h := range holds {
		for _, b := range h.Budgets {
			if podpolicy.Never(b) == "" {
				continue
			}
			if pods[b] == nil {
				budgets = append(budgets, b)
			}
			pods[b] = append(pods[b], nameOf(h.Pod))
		}
	}
	var out []telemetry.Event
	for _, b := range budgets {
		text := fmt.Sprintf("Can never allow a disruption: %s. Node %s cannot be drained of %s since %s. %s",
			podpolicy.Never(b), node.Name, Few(pods[b], fewPods), stamp(s.Since), Outlook(s, holds))
		event := telemetry.Warning(b, reasonNever, text, string(b.UID)).Within(rareNever)
		event.Rate = telemetry.Rate{PerSecond: 1, Burst: 10}
		out = append(out, event)
	}
	return out
}

// Evicted says why a pod was evicted.
func Evicted(pod *corev1.Pod, reason string) telemetry.Event {
	return telemetry.Normal(pod, reasonEvicted, "Evicted pod: "+reason, nameOf(pod))
}

// ScaledDown says on a pod that it was evicted because nothing needs its node. The reason is Cluster Autoscaler's.
func ScaledDown(node *corev1.Node, pod *corev1.Pod) telemetry.Event {
	return telemetry.Normal(pod, reasonScaleDown, fmt.Sprintf("The pod is evicted: node %s is removed, because nothing needs it", node.Name), string(pod.UID))
}

// NotScaledDown says on a pod that it could not be evicted for long. The reason is Cluster Autoscaler's.
func NotScaledDown(node *corev1.Node, pod *corev1.Pod, within time.Duration) telemetry.Event {
	text := fmt.Sprintf("The pod could not be evicted from node %s, which is to be removed, within %s; evictions are tried further", node.Name, within)
	return telemetry.Warning(pod, reasonScaleDownFailed, text, string(pod.UID))
}

// Surges says on pod and node that a pod stays until its replacement is Ready.
func Surges(node *corev1.Node, pod *corev1.Pod, deployment string) []telemetry.Event {
	toPod := fmt.Sprintf("Node %s goes. The pod stays until the one that Deployment %s makes in its place is Ready", node.Name, deployment)
	toNode := fmt.Sprintf("Pod %s stays until the one that Deployment %s makes in its place is Ready", nameOf(pod), deployment)
	return []telemetry.Event{
		telemetry.Normal(pod, reasonSurging, toPod, nameOf(pod), string(pod.UID)).Within(rareSurge),
		telemetry.Normal(node, reasonSurging, toNode, node.Name, string(pod.UID)).Within(rareSurge),
	}
}

// Rolled says on a Deployment why it was asked to restart a pod.
func Rolled(deployment client.Object, node *corev1.Node, pod *corev1.Pod) telemetry.Event {
	text := fmt.Sprintf("Rolled out, so that another pod is Ready before %s goes with node %s", pod.Name, node.Name)
	return telemetry.Normal(deployment, reasonSurging, text, string(deployment.GetUID()), string(pod.UID))
}

// Unsurged says on pod and node why a pod is evicted although it asked to be replaced first.
func Unsurged(node *corev1.Node, pod *corev1.Pod, why string) []telemetry.Event {
	return []telemetry.Event{
		telemetry.Warning(pod, reasonUnsurged, "Evicting without another pod in its place: "+why, string(pod.UID), why).Within(rareSurge),
		telemetry.Warning(node, reasonUnsurged, fmt.Sprintf("Evicting pod %s without another one in its place: %s", nameOf(pod), why), node.Name, string(pod.UID), why).Within(rareSurge),
	}
}

// Deleted says why a pod was deleted by force.
func Deleted(pod *corev1.Pod, grace int64, deadline time.Time) telemetry.Event {
	own := "no"
	if seconds := pod.Spec.TerminationGracePeriodSeconds; seconds != nil {
		own = fmt.Sprint(*seconds)
	}
	text := fmt.Sprintf("Deleting the pod to accommodate the terminationTime %s of the node. The pod was granted %d seconds of grace-period "+
		"of its %s terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation.", stamp(deadline), grace, own)
	return telemetry.Normal(pod, reasonDeleted, text, nameOf(pod))
}

// Attached names the volumes for which a node waits.
func Attached(node *corev1.Node, attachments []string) telemetry.Event {
	return telemetry.Normal(node, reasonVolumes, AwaitedVolumes(attachments), node.Name)
}
