package wait

import (
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// freeing is how long no group grows after another autoscaler has left one.
const freeing = 2 * time.Second

// freed has claims on groups wait while another autoscaler leaves its groups: they become free one after
// the other, and a decision between two of them would choose among a part of them.
func freed(s *snapshot.Snapshot) func(*plan.Claim) plan.Delay {
	var last time.Time
	for i := range s.Pools {
		if g := s.Pools[i].Group; g != nil && g.Freed.After(last) {
			last = g.Freed
		}
	}
	until := last.Add(freeing)
	return func(c *plan.Claim) plan.Delay {
		if c.Group == "" || !until.After(s.Now) {
			return plan.Delay{}
		}
		return plan.Delay{Code: reason.GroupsFreed, Until: until}
	}
}
