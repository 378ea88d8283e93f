package wait

import (
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

const (
	// arriving is the share of all pods that may have places which they have not taken yet, or may be
	// about to end, as its inverse, before moves that save money wait.
	arriving = 50
	// longestArrival is how long they wait at most: some pods always arrive where many come and go.
	longestArrival = 2 * time.Minute
)

// arrivals has moves that save money wait while many pods are on their way to their places. Nodes
// look empty until their pods have come, and pods that are moved take the room that was
// bought for others. Moves wait for those before them, too: what is saved next depends on where
// the scheduler puts their pods. And they wait while workloads are being scaled down: nodes would be
// bought for pods that are about to end. It returns since when this has been so, zero if it is not.
func arrivals(s *snapshot.Snapshot, p *plan.Plan) time.Time {
	code := reason.None
	switch {
	case s.Waiting.Placed*arriving > len(s.Pods) || s.Waiting.Moving > 0:
		code = reason.PodsArriving
	case s.Waiting.Leaving*arriving > len(s.Pods):
		code = reason.PodsLeaving
	default:
		return time.Time{}
	}
	since := s.Waiting.Arrivals
	if since.IsZero() {
		since = s.Now
	}
	if until := since.Add(longestArrival); until.After(s.Now) {
		for _, d := range movers(p) {
			d.Delay = plan.Delay{Code: code, Until: until}
		}
	}
	return since
}
