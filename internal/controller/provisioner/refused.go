package provisioner

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"tenon/core/order"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/core/wait"
	"tenon/internal/execute"
	"tenon/internal/telemetry"
	"tenon/internal/world"
)

// refusals remembers, for every pod whose claims failed, how many failed in a row, and when the next one
// may be made. The rule for the wait is in core/wait.
type refusals struct {
	tries map[types.UID]try
}

// try is the last claim that was created for a pod.
type try struct {
	pod   world.PodRef
	node  string // the node of the pod, if it is leaving
	claim string // empty once it is known to have failed
	stock string // what its pool could buy then
	times int    // how many in a row failed
	until time.Time
}

// note records the claims that were created.
func (r *refusals) note(s *snapshot.Snapshot, outcomes []execute.Outcome) {
	stocks := map[string]string{}
	for _, o := range outcomes {
		if o.Claim == nil {
			continue
		}
		pool := o.Order.Pool.Name
		if _, known := stocks[pool]; !known {
			stocks[pool] = stockOf(s, pool)
		}
		for _, p := range o.Order.For {
			if uid := types.UID(s.Pods[p].UID); uid != "" {
				if r.tries == nil {
					r.tries = map[types.UID]try{}
				}
				r.tries[uid] = try{pod: world.RefOf(&s.Pods[p]), node: s.Pods[p].Node, claim: o.Claim.Name, stock: stocks[pool], times: r.tries[uid].times}
			}
		}
	}
}

// settle finds out which claims failed, and forgets pods that run or were deleted.
func (r *refusals) settle(w *world.World, now time.Time) {
	for uid, t := range r.tries {
		pod, found := w.Pod(t.pod.Namespace, t.pod.Name)
		switch {
		case !found || pod.UID != uid || pod.Spec.NodeName != t.node:
			delete(r.tries, uid)
		case t.claim == "":
		case w.Launched(t.claim):
			t.times = 0
			r.tries[uid] = t
		case !w.Expects(t.claim):
			t.claim, t.times = "", t.times+1
			t.until = now.Add(wait.Pause(t.times))
			r.tries[uid] = t
		}
	}
}

func stockOf(s *snapshot.Snapshot, pool string) string {
	for i := range s.Pools {
		if s.Pools[i].Name == pool {
			return wait.Stock(s, &s.Pools[i])
		}
	}
	return ""
}

// list is the snapshot's list of pods whose claims fail, by UID.
func (r *refusals) list(now time.Time) []snapshot.Refused {
	var out []snapshot.Refused
	for _, uid := range order.Keys(r.tries) {
		if t := r.tries[uid]; t.claim == "" && t.until.After(now) {
			out = append(out, snapshot.Refused{UID: string(uid), Times: t.times, Until: t.until.UTC(), Stock: t.stock})
		}
	}
	return out
}

// held are the tries of pods whose claims wait because earlier launches failed.
func (r *refusals) held(s *snapshot.Snapshot, p *plan.Plan) []try {
	var out []try
	for i := range p.Claims {
		c := &p.Claims[i]
		if c.Delay.Code != reason.LaunchesRefused {
			continue
		}
		for _, pod := range c.Pods {
			if t, tried := r.tries[types.UID(s.Pods[pod].UID)]; tried {
				out = append(out, t)
			}
		}
	}
	return out
}

// tellHeld publishes events on pods about why nothing is bought for them now.
func (l *loop) tellHeld(held []try) {
	for _, t := range held {
		pod, found := l.o.World.Pod(t.pod.Namespace, t.pod.Name)
		if !found || pod.UID != t.pod.UID {
			continue
		}
		text := fmt.Sprintf("Failed to schedule pod, the last %d nodeclaims for it failed; the next is made at %s, or sooner if other instances are in stock",
			t.times, t.until.UTC().Format(time.RFC3339))
		l.kit.Events.Publish(telemetry.Warning(pod, "FailedScheduling", text, string(pod.UID), "refused").Within(5 * time.Minute).Each())
	}
}

// soonest is the earliest of a time and the times at which held pods may be tried again; zero means
// never.
func soonest(at time.Time, held []try) time.Time {
	for _, t := range held {
		if at.IsZero() || t.until.Before(at) {
			at = t.until
		}
	}
	return at
}
