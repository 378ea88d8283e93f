package wait

import (
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// HandOver is how long a new pod may wait for an ending one of its workload. In a
// roll-out most new pods take the place of an old one that has yet to end; a node bought
// for them would be empty a minute later.
const HandOver = 10 * time.Second

// Successors are the pods that wait for the place of an ending one, by UID, and until when: of each
// workload as many as end on nodes that stay, the oldest first. Older pods than that wait no more.
func Successors(now time.Time, all []snapshot.Succession) map[string]time.Time {
	out := map[string]time.Time{}
	for i := range all {
		places := all[i].Places
		for _, pod := range all[i].Pods {
			if until := pod.Created.Add(HandOver); places > 0 && until.After(now) {
				out[pod.UID] = until
				places--
			}
		}
	}
	return out
}

// handover has new pods wait that take the places of ending ones.
func handover(s *snapshot.Snapshot) func(*snapshot.Pod) plan.Delay {
	held := Successors(s.Now, s.Waiting.Successions)
	return func(p *snapshot.Pod) plan.Delay {
		until, is := held[p.UID]
		if !p.Pending || !is {
			return plan.Delay{}
		}
		return plan.Delay{Code: reason.PlaceHandedOver, Until: until}
	}
}
