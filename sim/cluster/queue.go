package cluster

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// queue holds all pods that wait for the scheduler, and is updated with every event: most pods wait while
// others come and go, and each pass checks which of them are due.
type queue map[types.UID]*waitingPod

// waitingPod is a pod with its last scheduling attempt; a count of zero means none.
type waitingPod struct {
	pod  *corev1.Pod
	last attempt
	// looks says that the pod has rules about other pods.
	looks bool
}

// attempt is the last failed attempt of a pod.
type attempt struct {
	count  int
	at     time.Time
	helped uint64 // the count of helpful events at that time
}

// How long a pod waits for its next attempt: after an event that may help, and without one.
const (
	firstRetry = time.Second
	lastRetry  = 10 * time.Second
	anyway     = 5 * time.Minute
)

// next returns when to try again.
func (a *attempt) next(helped uint64) time.Time {
	if a.helped == helped {
		return a.at.Add(anyway)
	}
	return a.at.Add(min(firstRetry<<min(a.count-1, 4), lastRetry))
}

// looksAround reports whether some waiting pod has rules about other pods.
func (q queue) looksAround() bool {
	for _, w := range q { // one is enough, in any order
		if w.looks {
			return true
		}
	}
	return false
}

// helped counts events that may give a pod a place.
func (c *Cluster) helped(pod *corev1.Pod) uint64 {
	if looksAround(pod) {
		return c.nodes.helped + c.nodes.arrived
	}
	return c.nodes.helped
}

// looksAround reports whether a pod that arrives may give this one a place: in its domain, or elsewhere
// once a domain has as many pods as others.
func looksAround(pod *corev1.Pod) bool {
	near := pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAffinity != nil && len(pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
	return near || slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(s corev1.TopologySpreadConstraint) bool { return s.WhenUnsatisfiable == corev1.DoNotSchedule })
}

// move records a change of a pod. A pod that has stopped waiting does not begin again.
func (q queue) move(was, is *corev1.Pod) {
	switch {
	case is == nil:
		delete(q, was.UID)
	case !unscheduled(is):
		delete(q, is.UID)
	case q[is.UID] == nil:
		q[is.UID] = &waitingPod{pod: is, looks: looksAround(is)}
	default:
		q[is.UID].pod = is
	}
}

// inOrder returns all waiting pods by namespace and name.
func (q queue) inOrder() []*waitingPod {
	return slices.SortedFunc(maps.Values(q), func(a, b *waitingPod) int {
		return cmp.Or(cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
	})
}

// failed counts a failed attempt.
func (q queue) failed(pod *corev1.Pod, now time.Time, helped uint64) {
	if w := q[pod.UID]; w != nil {
		w.last = attempt{w.last.count + 1, now, helped}
	}
}
