// Package drain decides how a node that is being removed is emptied: which pods it waits for, which of them
// are evicted now, which are deleted by force, why the others stay, and which volumes are still attached.
// It also makes the texts for users.
//
// Its functions take values and return decisions. The controller of the node and the one that
// evicts both call Decide, so a pod is never evicted unless the drain named it.
//
// The package must not read or write objects, and must not read the clock.
package drain

import (
	"cmp"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/resource"

	"tenon/api/scalar"
	"tenon/core/model"
	"tenon/internal/podpolicy"
	"tenon/internal/podresources"
)

// Shortest is the minimum duration of a drain, so that endpoints and load balancers notice the
// removal before the node is gone.
const Shortest = 5 * time.Second

// State is what a drain depends on at one moment.
type State struct {
	Now time.Time
	// Since is when the drain began; zero means now.
	Since time.Time
	// Deadline is when the last pod must be gone; zero means that there is none.
	Deadline time.Time
	// Pods are all pods that are bound to the node.
	Pods []*corev1.Pod
	// Stays reports whether a pod that would be evicted stays on the node; nil means none does.
	Stays func(*corev1.Pod) bool
	// Priorities, ascending, divide the pods into groups: each pod leaves with the highest of them that its own priority reaches, or
	// with the lowest; daemons leave after all others. Without them critical pods leave last.
	Priorities []int32
}

// Group is a set of pods that leave at the same time. A group leaves after the groups before it, so
// that daemons keep serving the other pods, and critical pods all pods.
type Group int

// The groups, in the order in which they leave.
const (
	Plain Group = iota
	Daemons
	Critical
	CriticalDaemons

	// NoPods is the group of a node that waits for no pod, or only for those past their time.
	NoPods Group = math.MaxInt
)

// GroupOf is the group that a pod leaves with if no priorities are given.
func GroupOf(pod *corev1.Pod) Group {
	switch critical, daemon := podpolicy.Critical(pod), podpolicy.Daemon(pod); {
	case critical && daemon:
		return CriticalDaemons
	case critical:
		return Critical
	case daemon:
		return Daemons
	}
	return Plain
}

// GroupOf is the group that a pod leaves with.
func (s State) GroupOf(pod *corev1.Pod) Group {
	if len(s.Priorities) == 0 {
		return GroupOf(pod)
	}
	at := RankOf(s.Priorities, pod)
	if podpolicy.Daemon(pod) {
		at += len(s.Priorities)
	}
	return Group(at)
}

// RankOf is the place of the highest priority, of ascending ones, that a pod's own reaches; the first place if it reaches none.
func RankOf(priorities []int32, pod *corev1.Pod) int {
	own := int32(0)
	if pod.Spec.Priority != nil {
		own = *pod.Spec.Priority
	}
	rank := 0
	for i, p := range priorities {
		if p <= own {
			rank = i
		}
	}
	return rank
}

// Step is the action for one pod now: evict it, as budgets allow, or delete it by force.
type Step struct {
	Pod *corev1.Pod
	// Forced deletes the pod regardless of budgets and annotations, because the node's time is over.
	Forced bool
	// Grace is the grace period of a forced pod in seconds.
	Grace int64
}

// Decision says how a drain continues.
type Decision struct {
	// Waiting are the pods for which the node waits, by namespace and name.
	Waiting []*corev1.Pod
	// Steps are the actions now, the largest pods first.
	Steps []Step
	// Turn is the group that leaves now.
	Turn Group
	// Next is when time alone changes this decision; zero if it never does.
	Next time.Time
}

// Decide says how a drain continues.
//
//	pods past their own time: deleted by force, from all groups at once
//	the others: evicted, but only those of the first group that still has any
func Decide(s State) Decision {
	d := Decision{Waiting: awaited(s), Turn: NoPods}
	for _, pod := range d.Waiting {
		if !s.due(pod) {
			d.Turn = min(d.Turn, s.GroupOf(pod))
		}
	}
	for _, pod := range d.Waiting {
		if step, todo := s.step(pod, d.Turn); todo {
			d.Steps = append(d.Steps, step)
		}
		d.Next = earliest(d.Next, s.changes(pod))
	}
	slices.SortStableFunc(d.Steps, func(a, b Step) int { return cmp.Compare(bulk(b.Pod), bulk(a.Pod)) })
	return d
}

// bulk orders pods by size. Large ones leave first: small pods fit beside the successors of large
// ones, but not the other way round.
func bulk(pod *corev1.Pod) int64 {
	requests := podresources.Requests(pod, resource.PodResourcesOptions{})
	return model.Resources{CPU: scalar.MilliAmount(*requests.Cpu()), Memory: scalar.Amount(*requests.Memory())}.Bulk()
}

func awaited(s State) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range s.Pods {
		if podpolicy.Awaited(pod, s.Now) && (s.Stays == nil || !s.Stays(pod)) {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return out
}

func (s State) step(pod *corev1.Pod, turn Group) (Step, bool) {
	if s.due(pod) {
		grace := s.grace()
		return Step{Pod: pod, Forced: true, Grace: grace}, shortens(pod, grace)
	}
	return Step{Pod: pod}, s.GroupOf(pod) == turn && podpolicy.Evictable(pod, s.Now)
}

// due reports whether the pod's time is over: its own grace period no longer fits before the
// deadline, or it was given a longer one.
func (s State) due(pod *corev1.Pod) bool {
	if s.Deadline.IsZero() {
		return false
	}
	if podpolicy.Terminating(pod) {
		return pod.DeletionTimestamp.After(s.Deadline)
	}
	at, known := s.forcedAt(pod)
	return known && s.Now.After(at)
}

// forcedAt is when a pod has to be deleted so that it ends by the deadline. It is unknown for pods
// without a grace period.
func (s State) forcedAt(pod *corev1.Pod) (time.Time, bool) {
	if s.Deadline.IsZero() || pod.Spec.TerminationGracePeriodSeconds == nil {
		return time.Time{}, false
	}
	return s.Deadline.Add(-podpolicy.Seconds(*pod.Spec.TerminationGracePeriodSeconds)), true
}

// grace is the time until the deadline, and at least one second: zero seconds would delete the
// object while its containers still run.
func (s State) grace() int64 { return max(int64(s.Deadline.Sub(s.Now)/time.Second), 1) }

// shortens reports whether deleting the pod with that grace changes anything. The API
// server only ever shortens the grace of a pod that is terminating already.
func shortens(pod *corev1.Pod, grace int64) bool {
	return !podpolicy.Terminating(pod) || pod.DeletionGracePeriodSeconds == nil || grace < *pod.DeletionGracePeriodSeconds
}

// changes is when time alone changes the action for a pod; zero means never.
func (s State) changes(pod *corev1.Pod) time.Time {
	if podpolicy.Terminating(pod) {
		return pod.DeletionTimestamp.Add(podpolicy.StuckAfter + time.Nanosecond)
	}
	var next time.Time
	if until, ends := podpolicy.ProtectionOf(pod).Until(); ends && s.Now.Before(until) {
		next = until
	}
	if at, known := s.forcedAt(pod); known && !s.Now.After(at) {
		next = earliest(next, at.Add(time.Nanosecond))
	}
	return next
}

// earliest is the earlier of two times; zero stands for never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Over reports whether the drain has ended: no pod is waited for, and Shortest has passed.
func (s State) Over(d Decision) bool {
	return len(d.Waiting) == 0 && s.Left() == 0
}

// Left is how much of Shortest is left.
func (s State) Left() time.Duration {
	if s.Since.IsZero() {
		return Shortest
	}
	return max(s.Since.Add(Shortest).Sub(s.Now), 0)
}

// StepFor is the action for a pod now, if there is one.
func (d Decision) StepFor(pod types.UID) (Step, bool) {
	for _, step := range d.Steps {
		if step.Pod.UID == pod {
			return step, true
		}
	}
	return Step{}, false
}

// Awaits reports whether the node waits for a pod.
func (d Decision) Awaits(pod types.UID) bool {
	return slices.ContainsFunc(d.Waiting, func(p *corev1.Pod) bool { return p.UID == pod })
}
