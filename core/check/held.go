package check

import (
	"time"

	"tenon/core/snapshot"
)

// mostHeld is for how long a pod may go without an answer.
const mostHeld = 10 * time.Second

// mayWait reports whether a pod may go without an answer: it has a node that a disruption takes, or
// it is new, and no more pods of its workload that are as new came before it than end.
func mayWait(s *snapshot.Snapshot, pod snapshot.PodIndex) bool {
	p := &s.Pods[pod]
	for i := range s.Nodes {
		if n := &s.Nodes[i]; p.Movable && n.Name == p.Node && n.Leaving && n.Life.Underway != "" {
			return true
		}
	}
	if !p.Pending || s.Now.Sub(p.Created) >= mostHeld {
		return false
	}
	for _, w := range s.Waiting.Successions {
		before := 0
		for _, other := range w.Pods {
			if other.UID == p.UID {
				return before < w.Places
			}
			if s.Now.Sub(other.Created) < mostHeld {
				before++
			}
		}
	}
	return false
}
