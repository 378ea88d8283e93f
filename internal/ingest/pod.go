package ingest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/snapshot"
	"tenon/internal/podpolicy"
)

// Pod translates a pod. The result is false for a pod that no decision can depend on: it has ended,
// or it has no node and is not pending. Movable is left false, since it depends on the node.
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
		Ends:        podpolicy.Ends(pod),
	}
	if pending {
		out.Refused = t.withheld(pod, found.refused)
		return out, true
	}
	out.Tie = t.Tie(pod)
	if out.Tie.Returns {
		out.Tie.Refused = found.refused
	}
	return out, true
}

func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Awaits reports whether the pod needs a place: see snapshot.Pod.Pending.
func (t *Translator) Awaits(pod *corev1.Pod) bool { return t.isPending(pod) }

// isPending reports whether a pod needs a place: "condition PodScheduled present with reason
// Unschedulable; spec.nodeName empty; status.nominatedNodeName empty (not preempting); not owned by
// an apps/v1 DaemonSet; not owned by a v1 Node". A pod that is being deleted will never run, and a
// gated one must not run yet. In files the condition may be missing.
func (t *Translator) isPending(pod *corev1.Pod) bool {
	if pod.Spec.NodeName != "" || pod.Status.NominatedNodeName != "" || isTerminal(pod) ||
		pod.DeletionTimestamp != nil || len(pod.Spec.SchedulingGates) > 0 || isDaemon(pod) || isMirror(pod) {
		return false
	}
	if hasVerdict(pod) {
		return IsJudged(pod)
	}
	return t.options.Files || t.options.Unjudged && isForeseeable(pod) && t.awaitsBooking(pod) == ""
}

// Gated returns the scheduling gates of a pod that would otherwise be pending. The result is false for
// all others.
func Gated(pod *corev1.Pod) (snapshot.Gated, bool) {
	if len(pod.Spec.SchedulingGates) == 0 || pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || isTerminal(pod) {
		return snapshot.Gated{}, false
	}
	out := snapshot.Gated{Namespace: namespaceOf(pod), Name: pod.Name}
	for _, gate := range pod.Spec.SchedulingGates {
		out.Gates = append(out.Gates, gate.Name)
	}
	return out, true
}

// isForeseeable reports whether the pod's scheduler will do what our rules say. Another scheduler
// may have its own rules, and a pod of high priority may preempt others, which only the scheduler
// decides.
func isForeseeable(pod *corev1.Pod) bool {
	own := pod.Spec.SchedulerName == "" || pod.Spec.SchedulerName == corev1.DefaultSchedulerName
	modest := pod.Spec.Priority == nil || *pod.Spec.Priority <= 0 ||
		pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == corev1.PreemptNever
	return own && modest
}

// hasVerdict reports whether a scheduler has looked at the pod.
func hasVerdict(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
}

// IsJudged reports whether a scheduler has found no place for the pod.
func IsJudged(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodScheduled {
			return c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return false
}

// PodOn translates a pod that is bound to a node or pending. It sets Movable, which depends on
// whether its node is leaving.
func (t *Translator) PodOn(pod *corev1.Pod, leaving bool) (snapshot.Pod, bool) {
	out, ok := t.Pod(pod)
	if !ok {
		return out, false
	}
	out.Movable = leaving && t.Movable(pod)
	if out.Movable {
		out.Refused = t.template(pod).refused
	}
	return out, true
}
