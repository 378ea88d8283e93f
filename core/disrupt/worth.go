package disrupt

import (
	"math"
	"time"

	"tenon/core/snapshot"
)

// An eviction is justified by savings of a part of what the pod costs: of a large part
// while it is young, since a pod that has just come, or was just moved and so made anew,
// would otherwise be moved again for every small advantage; and of a small part for ever,
// so that a fleet which is nearly the best possible is left in peace.
const (
	lastingRate = 0.05
	youngRate   = 0.45
	youngFor    = 30 * time.Minute
	// leastWorth is what moving even the smallest pod must save, in millionths an hour.
	leastWorth = 100
)

// worthOf is what an hour without the pod's present place must save, at least.
func (x *search) worthOf(p int32) float64 {
	pod := &x.s.Pods[p]
	weight := math.Max(float64(pod.Tie.Cost), 0) / snapshot.OrdinaryCost
	return math.Max(x.value[p]*rate(x.s.Now.Sub(pod.Created)), leastWorth) * weight
}

func rate(age time.Duration) float64 {
	if age <= youngFor {
		return lastingRate + youngRate
	}
	return lastingRate + youngRate*float64(youngFor)/float64(age)
}

// valueEffort is enough for prices that hold to a few parts in a thousand.
const valueEffort = 100_000_000

// appraise finds out what pods cost in the best of fleets, and what their nodes hold.
func (x *search) appraise() {
	var pods []int32
	for i := range x.nodes {
		if x.b.Stays(i) {
			pods = append(pods, x.nodes[i].moving...)
		}
	}
	x.value = make([]float64, len(x.s.Pods))
	for i, v := range x.b.Values(pods, valueEffort) {
		x.value[pods[i]] = v
	}
	for i := range x.nodes {
		n := &x.nodes[i]
		for _, p := range n.moving {
			n.value += x.value[p]
			n.worth += x.worthOf(p)
		}
	}
}
