package cluster

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// queue is all pods that wait for the scheduler, kept up to date with every event: most of them
// wait while others come and go, and each pass asks all of them whether it is their turn.
type queue map[types.UID]*waitingPod

// waitingPod is a pod with the last attempt to find a place for it; no count is none.
type waitingPod struct {
	pod  *corev1.Pod
	last attempt
	// looks says that it looks at where others are.
	looks bool
}

// attempt is the last one of a pod that found no place.
type attempt struct {
	count  int
	at     time.Time
	helped uint64 // what had happened by then that may help
}

// How long a pod waits for its next attempt: after something that may help, and if nothing
// does.
const (
	firstRetry = time.Second
	lastRetry  = 10 * time.Second
	anyway     = 5 * time.Minute
)

// next is when to try again.
func (a *attempt) next(helped uint64) time.Time {
	if a.helped == helped {
		return a.at.Add(anyway)
	}
	return a.at.Add(min(firstRetry<<min(a.count-1, 4), lastRetry))
}

// looksAround reports whether some pod that waits looks at where others are.
func (q queue) looksAround() bool {
	for _, w := range q { // one is enough, in any order
		if w.looks {
			return true
		}
	}
	return false
}

// helped counts what has happened that may give a pod a place.
func (c *Cluster) helped(pod *corev1.Pod) uint64 {
	if looksAround(pod) {
		return c.nodes.helped + c.nodes.arrived
	}
	return c.nodes.helped
}

// looksAround reports whether a pod that arrives may give this one a place: beside it, or elsewhere
// once a domain has as many as others.
func looksAround(pod *corev1.Pod) bool {
	near := pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAffinity != nil && len(pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
	return near || slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(s corev1.TopologySpreadConstraint) bool { return s.WhenUnsatisfiable == corev1.DoNotSchedule })
}

// move takes note of a pod that has changed. One that has stopped waiting does not begin again.
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

// inOrder is all waiters by namespace and name.
func (q queue) inOrder() []*waitingPod {
	return slices.SortedFunc(maps.Values(q), func(a, b *waitingPod) int {
		return cmp.Or(cmp.Compare(a.pod.Namespace, b.pod.Namespace), cmp.Compare(a.pod.Name, b.pod.Name))
	})
}

// failed counts an attempt.
func (q queue) failed(pod *corev1.Pod, now time.Time, helped uint64) {
	if w := q[pod.UID]; w != nil {
		w.last = attempt{w.last.count + 1, now, helped}
	}
}
