package provisioner

import (
	"time"

	"tenon/internal/world"
)

// window says how long to gather before a decision. Its two settings are upper limits:
// mostly it is much shorter.
type window struct {
	idle    time.Duration // the longest silence to wait for
	longest time.Duration // from the first pod on
}

const (
	// calm is the silence after which a burst is over. What one command makes arrives a
	// few milliseconds apart, and what a ReplicaSet has yet to make is known already. While
	// it is not, or not believed, the whole of the longest silence is waited for.
	calm = 40 * time.Millisecond
	// several is how many workloads in one burst make it likely that more are on their way: a whole
	// application or namespace is being rolled out. Then it is decided when no workload has
	// been new for as long as gather, since the whole is cheaper than its parts.
	several = 3
	gather  = 500 * time.Millisecond
	// flow is after how long a burst that goes on is decided about in parts.
	flow = time.Second
)

// wait is how much longer to gather, zero for not at all. Since is when the first pod came that
// no decision was about. streaming says that the burst goes on, and that its end is not known:
// more will follow at once.
func (w window) wait(p world.Pulse, since, now time.Time) (wait time.Duration, streaming bool) {
	if p.Waiting == 0 || p.Last.IsZero() {
		return 0, false
	}
	silence := min(calm, w.idle)
	if p.Hearsay || p.Doubted > 0 {
		silence = w.idle
	}
	quiet := silence - now.Sub(p.Last)
	over := w.longest - now.Sub(since)
	switch {
	case over <= 0:
		return 0, false
	case p.Acquainted.After(now):
		return min(p.Acquainted.Sub(now), over), false
	case p.Sets >= several && now.Sub(p.Joined) < min(gather, w.idle):
		return min(min(gather, w.idle)-now.Sub(p.Joined), over), false
	case quiet <= 0:
		return 0, false
	case now.Sub(p.First) >= flow:
		return 0, p.Coming == 0 || p.Doubted > 0 || now.Sub(p.Joined) < w.idle
	}
	return min(quiet, over, flow-now.Sub(p.First)), false
}
