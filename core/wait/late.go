package wait

import (
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

const (
	// landing is how long after the last pod that took its place others are expected to take theirs.
	landing = 3 * time.Second
	// longestLate is how long a pod that has lost its place waits for that at most.
	longestLate = 30 * time.Second
)

// late has claims wait that are only for pods which have lost their places. They lost them to
// others, which left room of their own elsewhere: what is left over is known once the others have
// taken their places, or have all been moved, and then the pods fit into it, or into fewer nodes.
func late(s *snapshot.Snapshot) func(*plan.Claim) plan.Delay {
	if s.Waiting.Evicting == 0 && (s.Waiting.Placed == 0 || s.Now.Sub(s.Waiting.Landed) >= landing) {
		return func(*plan.Claim) plan.Delay { return plan.Delay{} }
	}
	lost := make(map[string]time.Time, len(s.Waiting.Lost))
	for _, l := range s.Waiting.Lost {
		lost[l.UID] = l.At
	}
	return func(c *plan.Claim) plan.Delay {
		var until time.Time
		for _, pod := range c.Pods {
			at, is := lost[s.Pods[pod].UID]
			end := at.Add(longestLate)
			if !is || !end.After(s.Now) {
				return plan.Delay{}
			}
			if until.IsZero() || end.Before(until) {
				until = end
			}
		}
		if until.IsZero() {
			return plan.Delay{}
		}
		return plan.Delay{Code: reason.PlacesLost, Until: until}
	}
}
