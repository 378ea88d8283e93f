package wait

import (
	"slices"
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

// Pods are the pods that nothing is decided about now, in order.
func Pods(s *snapshot.Snapshot) []plan.Held {
	held := Successors(s.Now, s.Waiting.Successions)
	if len(held) == 0 {
		return nil
	}
	var out []plan.Held
	for i := range s.Pods {
		if pod := &s.Pods[i]; pod.Pending {
			if until, is := held[pod.UID]; is {
				out = append(out, plan.Held{Pod: snapshot.PodIndex(i), Delay: plan.Delay{Code: reason.PlaceHandedOver, Until: until}})
			}
		}
	}
	return out
}

// Without is the snapshot in which the pods that are held want no place.
func Without(s *snapshot.Snapshot, held []plan.Held) *snapshot.Snapshot {
	if len(held) == 0 {
		return s
	}
	out := *s
	out.Pods = slices.Clone(s.Pods)
	for _, h := range held {
		out.Pods[h.Pod].Pending = false
	}
	return &out
}
