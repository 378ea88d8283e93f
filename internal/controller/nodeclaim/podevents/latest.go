package podevents

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/internal/podpolicy"
)

// latest is when something last happened to one of a node's pods; zero if there is none
// that counts. Clocks of kubelets may be ahead of ours: nothing happens in the future.
func latest(pods []*corev1.Pod, now time.Time) time.Time {
	var last time.Time
	for _, pod := range pods {
		if !counts(pod) {
			continue
		}
		for _, at := range []time.Time{boundAt(pod), askedToLeaveAt(pod), endedAt(pod)} {
			if at.After(last) {
				last = at
			}
		}
	}
	if last.After(now) {
		return now
	}
	return last
}

// boundAt is when the scheduler gave the pod its node. A pod that was made with a node in
// its spec was bound from its beginning.
func boundAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// askedToLeaveAt is when the pod began to be deleted. The object has when that should be
// over.
func askedToLeaveAt(pod *corev1.Pod) time.Time {
	if pod.DeletionTimestamp == nil {
		return time.Time{}
	}
	if pod.DeletionGracePeriodSeconds == nil {
		return pod.DeletionTimestamp.Time
	}
	return pod.DeletionTimestamp.Add(-podpolicy.Seconds(*pod.DeletionGracePeriodSeconds))
}

// endedAt is when a pod that has ended was last ready. Caches do not keep when its
// containers ended; for a pod that was never ready, its end is noticed only as it happens.
func endedAt(pod *corev1.Pod) time.Time {
	if !podpolicy.Terminal(pod) {
		return time.Time{}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}
