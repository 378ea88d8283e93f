package ingest

import (
	corev1 "k8s.io/api/core/v1"

	"tenon/core/snapshot"
)

// Pod translates a pod. The result is false for a pod that no decision can depend on: it
// has ended, or it has no node and does not wait for one. Movable is left false, since
// it depends on the node.
func (t *Translator) Pod(pod *corev1.Pod) (snapshot.Pod, bool) {
	pending := t.isPending(pod)
	if isTerminal(pod) || !pending && pod.Spec.NodeName == "" {
		return snapshot.Pod{}, false
	}
	found := t.template(pod)
	out := snapshot.Pod{
		Namespace:   namespaceOf(pod),
		Name:        pod.Name,
		UID:         string(pod.UID),
		Template:    found.template,
		Node:        pod.Spec.NodeName,
		Created:     pod.CreationTimestamp.UTC(),
		Pending:     pending,
		Terminating: pod.DeletionTimestamp != nil,
	}
	if pending {
		out.Refused = found.refused
	}
	return out, true
}

func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// isPending tells which pods want a place: "condition PodScheduled present with reason
// Unschedulable; spec.nodeName empty; status.nominatedNodeName empty (not preempting);
// not owned by an apps/v1 DaemonSet; not owned by a v1 Node". A pod that is being deleted
// will never run, and a gated one not yet. In files the condition may be missing.
func (t *Translator) isPending(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" || pod.Status.NominatedNodeName != "" || isTerminal(pod) ||
		pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 || isDaemon(pod) || isMirror(pod) {
		return false
	}
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled {
			return c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return t.options.Files
}
