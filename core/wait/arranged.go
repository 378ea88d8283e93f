package wait

import (
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// arranged has claims wait that are only for pods of nodes which leave because of a disruption: it
// has found places for them. Packed anew, one or another might not fit, and a node would be
// bought that is not needed; a pod that finds no place when it comes to that is pending, and gets
// one then.
func arranged(s *snapshot.Snapshot) func(*plan.Claim) plan.Delay {
	underway := map[string]bool{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Life.Underway != "" {
			underway[n.Name] = true
		}
	}
	return func(c *plan.Claim) plan.Delay {
		for _, pod := range c.Pods {
			if !underway[s.Pods[pod].Node] {
				return plan.Delay{}
			}
		}
		if len(c.Pods) == 0 {
			return plan.Delay{}
		}
		return plan.Delay{Code: reason.PlacesArranged}
	}
}
