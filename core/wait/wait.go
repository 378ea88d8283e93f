// Package wait has the rules by which Tenon puts a decision off, or carries a part of a plan out later: because
// a later decision would be better, or because the part would be in the way of something else.
//
//	a decision   ──▶ newPool ──▶ joining ──▶ silence
//	announced    ──▶ promise
//	pods         ──▶ handover ──▶ arranged
//	claims       ──▶ burst ──▶ late ──▶ refused ──▶ freed
//	disruptions  ──▶ arrivals ──▶ neighbours ──▶ replacements
//	                    └─ each of them says now, or why not and until when at the latest
//
// Look and Evaluation say when Tenon decides again although no object has changed.
//
// Each rule is a file with its reason code; the first rule that applies is the reason. What a rule
// has to remember from one decision to the next, since when something waits, is in the
// snapshot; the decision says what is to be in the next one. Nothing waits for ever: each rule has
// a longest time, or ends with what it waits for.
package wait

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Pods are the pods that nothing is decided about now, in order.
func Pods(s *snapshot.Snapshot) []plan.Held {
	var out []plan.Held
	rules := []func(*snapshot.Pod) plan.Delay{handover(s), arranged(s)}
	for i := range s.Pods {
		if pod := &s.Pods[i]; pod.Pending || pod.Movable {
			for _, rule := range rules {
				if delay := rule(pod); delay.Code != reason.None {
					out = append(out, plan.Held{Pod: snapshot.PodIndex(i), Delay: delay})
					break
				}
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
		out.Pods[h.Pod].Pending, out.Pods[h.Pod].Movable = false, false
	}
	return &out
}

// Claims notes on the claims of a plan which of them wait.
func Claims(s *snapshot.Snapshot, p *plan.Plan) {
	freed := freed(s)
	rules := []func(*plan.Claim) plan.Delay{burst(s, p.Claims), late(s), refused(s), freed}
	for i := range p.Claims {
		p.Claims[i].Delay = plan.Delay{}
		for _, rule := range rules {
			if p.Claims[i].Delay = rule(&p.Claims[i]); p.Claims[i].Delay.Code != reason.None {
				break
			}
		}
	}
	for i := range p.Spare {
		if p.Spare[i].Delay = spare(s); p.Spare[i].Now() {
			p.Spare[i].Delay = freed(&p.Spare[i])
		}
	}
}

// Disruptions notes on the disruptions of a plan which of them wait. It returns what the
// snapshot of the next decision has to remember.
func Disruptions(s *snapshot.Snapshot, p *plan.Plan) snapshot.Waiting {
	var out snapshot.Waiting
	var delay plan.Delay
	if out.Arrivals, delay = transit(s); delay.Code != reason.None {
		for _, d := range movers(p) {
			d.Delay = delay
		}
	}
	out.Moves = neighbours(s, p)
	replacements(s, p)
	return out
}

// movers are the disruptions of a plan that only save money, of those that do not wait yet:
// no pod is worse off if they are begun a moment later.
func movers(p *plan.Plan) []*plan.Disruption {
	var out []*plan.Disruption
	for i := range p.Disruptions {
		if d := &p.Disruptions[i]; d.Reason == plan.Underutilized && d.Now() {
			out = append(out, d)
		}
	}
	return out
}
