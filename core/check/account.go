package check

import (
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// checkAccounts looks at the plan as a list: "every pending pod gets a verdict in every
// solve", and no pod is given a place that did not ask.
func checkAccounts(s *snapshot.Snapshot, p *plan.Plan, f *finding) {
	mentions := make([]int, len(s.Pods))
	mention := func(pod snapshot.PodIndex, node string) bool {
		if pod < 0 || int(pod) >= len(s.Pods) {
			f.note(Violation{Rule: PodUninvited, Node: node, Have: int64(pod), Detail: "no such pod"})
			return false
		}
		mentions[pod]++
		return true
	}
	place := func(pod snapshot.PodIndex, node string) {
		if mention(pod, node) && (!wantsPlace(&s.Pods[pod]) || len(s.Pods[pod].Refused) > 0) {
			f.note(Violation{Rule: PodUninvited, Pod: s.Pods[pod].Key(), Node: node, Detail: s.Pods[pod].Refused.Text()})
		}
	}
	for _, c := range p.Claims {
		for _, pod := range c.Pods {
			place(pod, c.Name)
		}
	}
	for _, e := range p.Existing {
		for _, pod := range e.Pods {
			place(pod, e.Node)
		}
	}
	for _, u := range p.Unplaced {
		if mention(u.Pod, "") && !explains(u.Verdict) {
			f.note(Violation{Rule: NoVerdict, Pod: s.Pods[u.Pod].Key()})
		}
	}
	for _, h := range p.Held {
		if mention(h.Pod, "") && !mayWait(s, h.Pod) {
			f.note(Violation{Rule: PodMissing, Pod: s.Pods[h.Pod].Key(), Detail: "waits for a place that no other pod leaves to it"})
		}
	}
	for i := range s.Pods {
		switch pod := &s.Pods[i]; {
		case wantsPlace(pod) && mentions[i] == 0:
			f.note(Violation{Rule: PodMissing, Pod: pod.Key()})
		case mentions[i] > 1:
			f.note(Violation{Rule: PodTwice, Pod: pod.Key(), Have: int64(mentions[i]), Want: 1})
		}
	}
}

func wantsPlace(p *snapshot.Pod) bool { return p.Pending || p.Movable }

// explains reports whether a verdict says anything at all.
func explains(v *reason.Verdict) bool {
	return v != nil && (v.General.Code != reason.None || len(v.Pools) > 0)
}
