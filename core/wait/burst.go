package wait

import (
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// burst has claims wait while a burst of pods goes on, but for those that are large and
// full: the others would be larger or cheaper together with the pods that are yet to come.
func burst(s *snapshot.Snapshot, claims []plan.Claim) func(*plan.Claim) plan.Delay {
	dearest := model.Money(0)
	for i := range claims {
		dearest = max(dearest, claims[i].Offer.Price)
	}
	delay := gathering(s)
	return func(c *plan.Claim) plan.Delay {
		if delay.Code == reason.None || c.Offer.Price >= dearest/2 && full(s, c) {
			return plan.Delay{}
		}
		return delay
	}
}

// spare has claims for buffers wait while a burst goes on, whose pods may need the same, while replacements are about to
// be made, on which the buffers of the nodes that go may have their room, and for a while after the last ones failed.
func spare(s *snapshot.Snapshot) plan.Delay {
	if d := gathering(s); d.Code != reason.None {
		return d
	}
	if s.Waiting.Replacing.After(s.Now) {
		return plan.Delay{Code: reason.OthersReplaced, Until: s.Waiting.Replacing}
	}
	if s.Waiting.Spare.After(s.Now) {
		return plan.Delay{Code: reason.LaunchesRefused, Until: s.Waiting.Spare}
	}
	return plan.Delay{}
}

// gathering is the delay of what waits for the end of a burst.
func gathering(s *snapshot.Snapshot) plan.Delay {
	if !s.Waiting.Burst.After(s.Now) {
		return plan.Delay{}
	}
	return plan.Delay{Code: reason.BurstGoesOn, Until: s.Waiting.Burst}
}

// full reports whether a node has no room for one more of any of its own pods.
func full(s *snapshot.Snapshot, c *plan.Claim) bool {
	room := c.Allocatable.Sub(c.Requests)
	last := snapshot.TemplateIndex(-1)
	for _, i := range c.Pods {
		template := s.Pods[i].Template
		if template == last {
			continue
		}
		last = template
		if s.Templates[template].Requests.Fits(room) {
			return false
		}
	}
	return true
}
