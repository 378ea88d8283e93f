package disrupt

import (
	"math"
	"time"

	"tenon/core/snapshot"
)

// An eviction is justified by savings of a part of what the pod costs.
const (
	// lastingRate is asked for ever, so that a fleet which is nearly the best possible is
	// left in peace.
	lastingRate = 0.05
	// youngRate is asked of a pod that has just come. Pods live on for about as long as they
	// have lived so far, and the savings with them: the rate falls with the age.
	youngRate = 0.45
	youngFor  = 30 * time.Minute
	// movedRate is asked of a pod that a disruption brought where it is, and falls to
	// nothing over movedFor: what was decided then is not taken back for a small
	// advantage, even if the packing could be improved.
	movedRate = 10
	movedFor  = 72 * time.Hour
	// leastWorth is what moving even the smallest pod must save, in millionths an hour.
	leastWorth = 100
)

// worthOf is what an hour without the pod's present place must save, at least.
func (x *search) worthOf(p int32, n *node) float64 {
	pod := &x.s.Pods[p]
	rate := rateAt(x.s.Now.Sub(pod.Created))
	if moved := n.Life.Rearranged; !moved.IsZero() && !pod.Created.Before(moved) {
		rate += movedRate * max(0, 1-float64(x.s.Now.Sub(moved))/float64(movedFor))
	}
	weight := math.Max(float64(pod.Tie.Cost), 0) / snapshot.OrdinaryCost
	return math.Max(x.value[p]*rate, leastWorth) * weight
}

func rateAt(age time.Duration) float64 {
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
			n.worth += x.worthOf(p, n)
		}
	}
}
