package provisioner

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"tenon/core/snapshot"
	"tenon/internal/world"
)

const (
	// landing is how long after the last pod that took its place others are expected to take theirs.
	landing = 3 * time.Second
	// longestLate is how long a pod that has lost its place waits for that at most.
	longestLate = 30 * time.Second
	// lateRetry is when to look again.
	lateRetry = time.Second
)

// late tells pods for which no node is bought yet. They lost their places to others, which left
// room of their own elsewhere: what is left over is known once the others have taken their places, and
// then the pods fit into it, or into fewer nodes.
func (l *loop) late(p world.Pulse, now time.Time) func(*snapshot.Pod) bool {
	arriving := p.Placed > 0 && now.Sub(p.Landed) < landing
	return func(pod *snapshot.Pod) bool {
		if !arriving || pod.UID == "" {
			return false
		}
		lost := l.o.World.LostAt(types.UID(pod.UID))
		return !lost.IsZero() && now.Sub(lost) < longestLate
	}
}
