package disruption

import "time"

const (
	// arriving is the share of all pods that may have places which they have not taken yet, as its
	// inverse, before moves that save money wait.
	arriving = 50
	// longestArrival is how long they wait at most: some pods always arrive where many come and go.
	longestArrival = 2 * time.Minute
)

// arrivals is since when so many pods are on their way to their places that moves which save
// money wait. Nodes look empty until their pods have come, and pods that are moved take the room
// that was bought for others.
type arrivals struct{ since time.Time }

// wait reports whether moves wait, now that so many of all pods have places to go to.
func (a *arrivals) wait(placed, pods int, now time.Time) bool {
	if placed*arriving <= pods {
		a.since = time.Time{}
		return false
	}
	if a.since.IsZero() {
		a.since = now
	}
	return now.Sub(a.since) < longestArrival
}
