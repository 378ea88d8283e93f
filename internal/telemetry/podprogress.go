package telemetry

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PodProgress is the times of decisions about pending pods, so that their way to a node can be
// timed. The provisioner writes it; the metrics of pods read it, and forget pods that run. It must
// not be used for decisions. The zero value is empty and ready for use.
type PodProgress struct {
	mu    sync.Mutex
	steps map[types.UID]Steps // guarded by mu
}

// Steps are the steps of one pod; a zero time is a step that it has not taken.
type Steps struct {
	Seen    time.Time // it was found to need a place
	Decided time.Time // a decision was made about it, with a place or without
	Placed  time.Time // it was given a place, on an existing or a planned node
}

// mostPods limits the memory. Pods beyond it are not timed.
const mostPods = 200_000

// See records that a pod needs a place.
func (t *PodProgress) See(pod types.UID, now time.Time) {
	t.step(pod, func(s *Steps) { s.Seen = first(s.Seen, now) })
}

// Decide records that a decision was made about a pod, and returns how long after it was seen;
// false if that was not the first decision, or the time is unknown.
func (t *PodProgress) Decide(pod types.UID, now time.Time) (after time.Duration, isFirst bool) {
	t.step(pod, func(s *Steps) {
		isFirst = s.Decided.IsZero() && !s.Seen.IsZero()
		s.Decided = first(s.Decided, now)
		after = now.Sub(s.Seen)
	})
	return after, isFirst
}

// Place records that a pod was given a place.
func (t *PodProgress) Place(pod types.UID, now time.Time) {
	t.step(pod, func(s *Steps) { s.Placed = first(s.Placed, now) })
}

// Of returns the known steps of a pod.
func (t *PodProgress) Of(pod types.UID) Steps {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.steps[pod]
}

// Forget forgets a pod.
func (t *PodProgress) Forget(pod types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.steps, pod)
}

// Keep forgets all pods except these.
func (t *PodProgress) Keep(pods map[types.UID]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for pod := range t.steps {
		if !pods[pod] {
			delete(t.steps, pod)
		}
	}
}

func (t *PodProgress) step(pod types.UID, change func(*Steps)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, known := t.steps[pod]
	if !known && len(t.steps) >= mostPods {
		return
	}
	change(&s)
	if t.steps == nil {
		t.steps = map[types.UID]Steps{}
	}
	t.steps[pod] = s
}

func first(before, now time.Time) time.Time {
	if before.IsZero() {
		return now
	}
	return before
}
