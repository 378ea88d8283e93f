package telemetry

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// PodProgress is what was decided about pending pods and when, so that their way to a node can be
// timed. The provisioner writes it; the metrics of pods read it, and forget pods that are there.
// Nothing may be decided by it. The zero value is empty and ready for use.
type PodProgress struct {
	mu    sync.Mutex
	steps map[types.UID]Steps // guarded by mu
}

// Steps of one pod; zero times are steps that it has not taken.
type Steps struct {
	Seen    time.Time // it was found to want a place
	Decided time.Time // something was decided about it, a place or none
	Placed  time.Time // it was given a place, on a node that is there or is to come
}

// mostPods bounds the memory. Pods beyond it are not timed.
const mostPods = 200_000

// See notes that a pod wants a place.
func (t *PodProgress) See(pod types.UID, now time.Time) {
	t.step(pod, func(s *Steps) { s.Seen = first(s.Seen, now) })
}

// Decide notes that something was decided about a pod, and tells how long after it was seen; false
// when that was not the first decision, or that is not known.
func (t *PodProgress) Decide(pod types.UID, now time.Time) (after time.Duration, isFirst bool) {
	t.step(pod, func(s *Steps) {
		isFirst = s.Decided.IsZero() && !s.Seen.IsZero()
		s.Decided = first(s.Decided, now)
		after = now.Sub(s.Seen)
	})
	return after, isFirst
}

// Place notes that a pod was given a place.
func (t *PodProgress) Place(pod types.UID, now time.Time) {
	t.step(pod, func(s *Steps) { s.Placed = first(s.Placed, now) })
}

// Of is what is known of a pod.
func (t *PodProgress) Of(pod types.UID) Steps {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.steps[pod]
}

// Forget a pod.
func (t *PodProgress) Forget(pod types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.steps, pod)
}

// Keep forgets all pods but these.
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
