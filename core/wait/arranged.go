package wait

import (
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// arranged has pods wait that leave their nodes because of a disruption: it has found places for
// the pods that it knew of, and what it has bought for them is on its way. Packed anew, beside
// others that want a place, one or another might not fit, and a node would be bought that is not needed.
// A pod that the disruption did not know, or that finds no place in the end, is pending once it is evicted,
// and gets a place then.
func arranged(s *snapshot.Snapshot) func(*snapshot.Pod) plan.Delay {
	underway := map[string]bool{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Leaving && n.Life.Underway != "" {
			underway[n.Name] = true
		}
	}
	return func(p *snapshot.Pod) plan.Delay {
		if !p.Movable || !underway[p.Node] {
			return plan.Delay{}
		}
		return plan.Delay{Code: reason.PlacesArranged}
	}
}
