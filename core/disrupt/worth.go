package disrupt

import (
	"math"
	"time"

	"tenon/core/snapshot"
)

// An eviction is justified by savings of a part of what the pod costs.
const (
	// rate is asked of every pod, so that a fleet which is nearly the best possible is not changed. It does
	// not depend on the pod's age: otherwise a move that is not worth it today would be made tomorrow,
	// although nothing has changed. Users who want young pods not to be moved set consolidateAfter.
	rate = 0.05
	// movedRate is asked of a pod that a disruption brought where it is: what was decided
	// then is not taken back for a small advantage, even if the packing could be improved. It is
	// asked of nodes that are well used, and less of others: see used.
	// It holds for movedFor, and falls to nothing in as long again.
	movedRate = 2
	movedFor  = 48 * time.Hour
	// leastWorth is what moving even the smallest pod must save, in millionths an hour.
	leastWorth = 100
)

// worthOf is what an hour without the pod's present place must save, at least.
func (x *search) worthOf(p snapshot.PodIndex, n *node) float64 {
	pod := &x.s.Pods[p]
	share := rate
	if moved := movedAt(n.Life.Rearranged, pod.Created); !moved.IsZero() {
		left := 2 - float64(x.s.Now.Sub(moved))/float64(movedFor)
		used := x.used(n)
		share += float64(movedRate * min(max(left, 0), 1) * used * used)
	}
	weight := math.Max(float64(pod.Tie.Cost), 0) / snapshot.OrdinaryCost
	// One more of many small pods costs nothing in the best of fleets, where there is room for it anyway.
	// For pods that were moved before, the savings must be large all the same.
	return float64(math.Max(x.value[p], leastWorth/rate) * share * weight * x.caution(n))
}

// movedAt is the last time before a pod came that a disruption brought pods to its node; zero
// if it was there before the first. Later times are about other pods, and take nothing back.
func movedAt(times []time.Time, came time.Time) (last time.Time) {
	for _, at := range times {
		if !came.Before(at) {
			last = at
		}
	}
	return last
}

// wellUsed is the share of a node's price that its pods are worth at the least where a plan has moved
// them to it: fewer than that are there because something has changed. With 0.6, three times as
// many pods of random fleets are moved twice.
const wellUsed = 0.45

// used is how well a node is used, one at most. What was moved to a node that is well used now was
// moved for good. If the scheduler has put the pods elsewhere, or the workloads have shrunk since,
// the node is not what was decided on.
func (x *search) used(n *node) float64 {
	if n.Price <= 0 {
		return 1
	}
	return min(n.value/float64(n.Price)/wellUsed, 1)
}

// caution is how much more than usual is asked of evictions from a node: in its pool moves
// have brought less than was expected.
func (x *search) caution(n *node) float64 {
	if n.pool == noPool {
		return 1
	}
	return float64(max(x.s.Pools[n.pool].Consolidation.Caution, snapshot.FullConfidence)) / snapshot.FullConfidence
}

// valueEffort is enough for prices that hold to a few parts in a thousand.
const valueEffort = 100_000_000

// appraise finds out what pods cost in the best of fleets, and what their nodes hold.
func (x *search) appraise() {
	var pods []snapshot.PodIndex
	for i := range x.nodes {
		if x.fleet.Stays(x.nodes[i].at) {
			pods = append(pods, x.nodes[i].moving...)
		}
	}
	x.value = make([]float64, len(x.s.Pods))
	for i, v := range x.fleet.Values(pods, x.part(valueEffort)) {
		x.value[pods[i]] = v
	}
	for i := range x.nodes {
		n := &x.nodes[i]
		for _, p := range n.moving {
			n.value += x.value[p]
		}
		for _, p := range n.moving {
			n.worth += x.worthOf(p, n)
		}
	}
}
