// Package podpolicy says what a pod is to a node that has to go: whether the node waits for
// it, whether it may be evicted and from when on, whether it will come back elsewhere, and
// which PodDisruptionBudgets cover it. Draining, disruption and the picture of the
// cluster ask the same questions, and must get the same answers.
//
// It is values in, answers out: no client, no clock, no decision about a node.
package podpolicy

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/model"
)

// StuckAfter is how long after the end of its grace period a pod that is still there counts
// as stuck. Its kubelet is gone or broken, and it is not waited for any more.
const StuckAfter = time.Minute

// longest is as much of a time in seconds as counts: more would not fit into the nanoseconds of
// a time.Duration, and the API server takes any number for a grace period.
const longest = 100 * 365 * 24 * time.Hour

// Seconds is a duration that an object gives in seconds, at most a hundred years.
func Seconds(n int64) time.Duration {
	return time.Duration(min(max(n, 0), int64(longest/time.Second))) * time.Second
}

// Terminal tells pods that have ended.
func Terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// Terminating tells pods that are being deleted.
func Terminating(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }

// Active tells pods that run or will.
func Active(pod *corev1.Pod) bool { return !Terminal(pod) && !Terminating(pod) }

// Daemon tells pods that belong to their node, and to a DaemonSet.
func Daemon(pod *corev1.Pod) bool { return ownedBy(pod, "apps/v1", "DaemonSet") }

// Mirror tells the pods that a kubelet reads from files. Deleting one changes nothing.
func Mirror(pod *corev1.Pod) bool { return ownedBy(pod, "v1", "Node") }

func ownedBy(pod *corev1.Pod, apiVersion, kind string) bool {
	for i := range pod.OwnerReferences {
		if ref := &pod.OwnerReferences[i]; ref.APIVersion == apiVersion && ref.Kind == kind {
			return true
		}
	}
	return false
}

// Critical tells pods that others on their node depend on.
func Critical(pod *corev1.Pod) bool {
	return pod.Spec.PriorityClassName == "system-cluster-critical" || pod.Spec.PriorityClassName == "system-node-critical"
}

// Reschedulable tells pods whose controller will want another one elsewhere. A StatefulSet
// makes the next pod of a name only when the last is gone, so a terminating one still counts.
func Reschedulable(pod *corev1.Pod) bool {
	comesBack := Active(pod) || !Terminal(pod) && ownedBy(pod, "apps/v1", "StatefulSet")
	return comesBack && !Daemon(pod) && !Mirror(pod)
}

// Ends reports whether the pod ends by itself: its containers are not restarted for ever. The API server
// allows jobs only such pods, and Deployments and the like none of them.
func Ends(pod *corev1.Pod) bool {
	return pod.Spec.RestartPolicy == corev1.RestartPolicyNever || pod.Spec.RestartPolicy == corev1.RestartPolicyOnFailure
}

// Stays tells pods that tolerate the taint of nodes that go: they asked to be there until
// the end.
func Stays(pod *corev1.Pod) bool {
	taint := karpenterv1.TaintDisrupted()
	disrupted := model.Taint{Key: taint.Key, Value: taint.Value, Effect: model.Effect(taint.Effect)}
	for _, t := range pod.Spec.Tolerations {
		toleration := model.Toleration{Key: t.Key, Operator: string(t.Operator), Value: t.Value, Effect: model.Effect(t.Effect)}
		if toleration.Tolerates(disrupted) {
			return true
		}
	}
	return false
}

// Stuck tells pods that should have been gone for long.
func Stuck(pod *corev1.Pod, now time.Time) bool {
	return Terminating(pod) && now.After(pod.DeletionTimestamp.Add(StuckAfter))
}

// Drainable tells pods that leave a node before the node does.
func Drainable(pod *corev1.Pod, now time.Time) bool {
	return !Stays(pod) && !Stuck(pod, now) && !Mirror(pod)
}

// Awaited tells pods whose end a node waits for, also those that must not be evicted.
func Awaited(pod *corev1.Pod, now time.Time) bool { return Drainable(pod, now) && !Terminal(pod) }

// Evictable tells pods that may be asked to leave, as far as they are asked themselves.
// Budgets are asked by the API server.
func Evictable(pod *corev1.Pod, now time.Time) bool {
	return Active(pod) && !Stays(pod) && !Mirror(pod) && !ProtectionOf(pod).Holds(now)
}

// Disruptable tells pods that do not object to the end of their node.
func Disruptable(pod *corev1.Pod, now time.Time) bool {
	return !Active(pod) || !ProtectionOf(pod).Holds(now)
}

// Unready reports whether the pod's condition Ready is False.
func Unready(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionFalse
		}
	}
	return false
}
