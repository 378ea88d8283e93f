package loop

import (
	"time"

	"tenon/internal/world"
)

// window says how long to gather before a decision. Its two settings are upper limits:
// mostly it is much shorter, because a ReplicaSet tells how many pods are still to come.
type window struct {
	idle    time.Duration // the longest silence to wait for
	longest time.Duration // from the first pod on
}

// The silences after which a burst is over.
const (
	// calm is enough when everything that is known to come has come: pods of one user's
	// command arrive a few milliseconds apart.
	calm = 15 * time.Millisecond
	// flow is after how long a burst that goes on is decided about in parts.
	flow = time.Second
)

// wait is how much longer to gather, zero for not at all. streaming says that the burst
// goes on: whatever is decided now, more will follow at once. It never makes a pod wait
// longer than the longest window.
func (w window) wait(p world.Pulse, now time.Time) (wait time.Duration, streaming bool) {
	if p.Waiting == 0 || p.Last.IsZero() {
		return 0, false
	}
	silence := min(calm, w.idle)
	if p.Coming > 0 {
		silence = w.idle
	}
	quiet := silence - now.Sub(p.Last)
	over := w.longest - now.Sub(p.Oldest)
	switch {
	case over <= 0:
		return 0, false
	case quiet <= 0:
		// A ReplicaSet that stalls in the middle goes on, unless a quota keeps it from that.
		stalled := p.Coming > 0 && now.Sub(p.Last) < stall*w.idle
		return 0, stalled
	case now.Sub(p.First) >= flow:
		return 0, true
	}
	return min(quiet, over, flow-now.Sub(p.First)), false
}

// stall is how many idle times a ReplicaSet may say nothing before nobody waits for it.
const stall = 3
