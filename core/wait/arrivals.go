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
	// longestArrival is how long they wait at most for each of these: some pods always arrive where many
	// come and go. Of pods that end it counts from when their number last fell by a tenth: kube-controller-manager
	// deletes the pods of a workload by the hundred, and on a busy control plane each hundred takes its time.
	longestArrival = 2 * time.Minute
	tenth          = 10
	// backoff is the time within which kube-scheduler tries a pod again that it found no room for, and binding how long it
	// takes to bind it on a busy control plane: while pods take their places, the last of them may still come.
	backoff = 10 * time.Second
	binding = 5 * time.Second
	// ScalingDown is how long moves wait after a Deployment was scaled down if it was at least the third within that time: the next one
	// follows. What the fleet needs is known when the last one has been.
	ScalingDown = 3 * time.Second
	oneByOne    = 3 // Deployments
)

// Transit counts the pods that have yet to take their places, to find others because they lost theirs, to be moved, or to end.
type Transit struct {
	Placed, Lost, Moving, Leaving int
	All                           int       // how many pods there are
	Landed, Now                   time.Time // when one last took its place
	ScaledDown                    snapshot.ScaledDown
}

// Over reports whether moves need not wait for them.
func (t Transit) Over() bool {
	return !t.coming() && t.Lost == 0 && t.Moving == 0 && !t.ending() && !t.scalingDown()
}

func (t Transit) coming() bool {
	return t.Placed*arriving > t.All || t.Placed > 0 && t.Now.Sub(t.Landed) < backoff+binding
}

func (t Transit) ending() bool { return t.Leaving*arriving > t.All }

func (t Transit) scalingDown() bool {
	return t.ScaledDown.Deployments >= oneByOne && t.ScaledDown.Pods*arriving > t.All
}

// InTransit reports whether moves that save money wait for pods in transit.
func InTransit(s *snapshot.Snapshot) bool {
	_, delay := transit(s)
	return delay.Code != reason.None
}

// transit has moves that save money wait while many pods are on their way to their places, or the last ones of many. Nodes
// look empty until their pods have come, and pods that are moved take the room that was
// bought for others. Moves wait for those before them, too: what is saved next depends on where
// the scheduler puts their pods. So they do for pods that have lost their places: pods that wait take the room
// that moves make for their own. And they wait while workloads are being scaled down: nodes would be
// bought for pods that are about to end, and the room of those that end is free only once they are gone.
// A scale-down that goes on is waited for, however long it takes, and for two minutes the next one of several that follow one another.
// It returns since when each of these has been so, and what moves wait for now.
func transit(s *snapshot.Snapshot) (snapshot.Arrivals, plan.Delay) {
	since, delay := s.Waiting.Arrivals, plan.Delay{}
	pods := Transit{s.Waiting.Placed, len(s.Waiting.Lost), s.Waiting.Moving, s.Waiting.Leaving, len(s.Pods), s.Waiting.Landed, s.Now, s.Waiting.ScaledDown}
	switch {
	case !pods.ending():
		since.Left = 0
	case since.Left == 0 || pods.Leaving <= since.Left-since.Left/tenth:
		since.Leaving, since.Left = s.Now, pods.Leaving
	}
	for _, cause := range []struct {
		code reason.Code
		is   bool
		at   *time.Time
	}{
		{reason.PodsArriving, pods.coming(), &since.Placed},
		{reason.PodsArriving, pods.Lost > 0, &since.Lost},
		{reason.PodsArriving, pods.Moving > 0, &since.Moving},
		{reason.PodsLeaving, pods.ending(), &since.Leaving},
		{reason.PodsLeaving, pods.scalingDown(), &since.ScalingDown},
	} {
		switch {
		case !cause.is:
			*cause.at = time.Time{}
			continue
		case cause.at.IsZero():
			*cause.at = s.Now
		}
		if until := cause.at.Add(longestArrival); delay.Code == reason.None && until.After(s.Now) {
			delay = plan.Delay{Code: cause.code, Until: until}
		}
	}
	return since, delay
}
