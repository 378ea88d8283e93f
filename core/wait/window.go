package wait

import (
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
)

// Arriving is what is known of pods that come together: of those that have come since the last
// decision, and of what made them.
type Arriving struct {
	// Waiting is how many pods want a place that no claim has been bought for.
	Waiting int
	// First and Last are when the first and the last of them began to wait.
	First, Last time.Time
	// Joined is when the last ReplicaSet made its first pod. Where one has just begun, others may
	// follow that have not been heard of.
	Joined time.Time
	// Sets is how many ReplicaSets they are of.
	Sets int
	// Coming is how many more pods the workloads of those that wait will make at once, and Unlikely
	// how many they want beyond that: it is not known yet whether these come.
	Coming, Unlikely int
	// Unconfirmed says that Coming is not to be relied on: we have not heard yet what their
	// workloads want now.
	Unconfirmed bool
	// Unmade is since when the youngest ReplicaSet that has yet to make its first pod has been known; zero without one.
	Unmade time.Time
	// NewPool is when the last pool appeared that has not been judged yet; zero without one.
	NewPool time.Time
}

// doubtful reports whether it is not known how many pods are to come.
func (a Arriving) doubtful() bool { return a.Unconfirmed || a.Unlikely > 0 }

// Window says how long to gather before a decision. Its two settings are upper limits:
// mostly it is much shorter.
type Window struct {
	Idle    time.Duration // the longest silence to wait for
	Longest time.Duration // from the first pod on
}

const (
	// judging is for how long a new pool is waited for that has not been judged yet. People apply pools,
	// classes and workloads with one command; deciding at once would tell them that nothing is
	// ready, or buy from whichever pool is judged first although another one has more weight.
	judging = 5 * time.Second
	// several is how many workloads in one burst make it likely that more are on their way: a whole
	// application or namespace is being rolled out. Then it is decided when no workload has
	// been new for as long as gather, since the whole is cheaper than its parts.
	several = 3
	gather  = 500 * time.Millisecond
	// Making is how long a ReplicaSet without pods is waited for. kube-controller-manager makes the pods of a few sets at a
	// time, so that those of an application come in several waves.
	Making = 10 * time.Second
	// calm is the silence after which a burst is over. What one command makes arrives a
	// few milliseconds apart, and what a ReplicaSet has yet to make is known already. While
	// it is not, or not believed, the whole of the longest silence is waited for.
	calm = 40 * time.Millisecond
	// flow is after how long a burst that goes on is decided about in parts.
	flow = time.Second
)

// Decision says why a decision about the pods waits, and until when to gather; no code is now. Since
// is when the first pod came that no decision was about. Burst is until when the burst is gathered
// at the latest, if it goes on and its end is not known: more will follow at once. It is zero
// otherwise.
func (w Window) Decision(a Arriving, since, now time.Time) (d plan.Delay, burst time.Time) {
	end := since.Add(w.Longest)
	if a.Waiting == 0 || a.Last.IsZero() || !end.After(now) {
		return plan.Delay{}, time.Time{}
	}
	if d := waits(a, now, newPool, making, w.joining, w.idle); d.Code != reason.None {
		if end.Before(d.Until) {
			d.Until = end
		}
		return d, time.Time{}
	}
	if w.quiet(a).After(now) && (a.Coming == 0 || a.Unlikely > 0 || now.Sub(a.Joined) < w.Idle) {
		return plan.Delay{}, end
	}
	return plan.Delay{}, time.Time{}
}

// waits is the first of some rules by which pods wait; no code is that they do not.
func waits(a Arriving, now time.Time, rules ...func(Arriving) plan.Delay) plan.Delay {
	for _, rule := range rules {
		if d := rule(a); d.Until.After(now) {
			return d
		}
	}
	return plan.Delay{}
}

// Ended reports whether a burst has ended while a decision about it was made: no pods have come that the decision does not count on, and none
// are waited for any more but those. Then no parts of the decision wait for others.
func (w Window) Ended(before, after Arriving, since, now time.Time) bool {
	switch {
	case after.Joined.After(before.Joined) || after.Waiting+after.Coming > before.Waiting+before.Coming:
		return false
	case !since.Add(w.Longest).After(now):
		return true
	case waits(after, now, newPool, making, w.joining).Code != reason.None:
		return false
	}
	return !w.quiet(after).After(now) || !after.doubtful() && now.Sub(after.Joined) >= w.Idle
}

// Again says why another decision about pods waits, after the last one at a time, and until when: only for a new pool. Pods that came before their
// pools have been decided about already.
func (w Window) Again(a Arriving, last, now time.Time) plan.Delay {
	d := newPool(a)
	if end := last.Add(w.Longest); end.Before(d.Until) {
		d.Until = end
	}
	if !d.Until.After(now) {
		return plan.Delay{}
	}
	return d
}

// newPool has pods wait for a pool that has just appeared.
func newPool(a Arriving) plan.Delay {
	if a.NewPool.IsZero() {
		return plan.Delay{}
	}
	return plan.Delay{Code: reason.PoolUnjudged, Until: a.NewPool.Add(judging)}
}

// making has pods wait for those of ReplicaSets that exist and have none yet.
func making(a Arriving) plan.Delay {
	if a.Unmade.IsZero() {
		return plan.Delay{}
	}
	return plan.Delay{Code: reason.WorkloadsJoin, Until: a.Unmade.Add(Making)}
}

// joining has the pods of several workloads wait for those of others.
func (w Window) joining(a Arriving) plan.Delay {
	if a.Sets < several {
		return plan.Delay{}
	}
	return plan.Delay{Code: reason.WorkloadsJoin, Until: a.Joined.Add(min(gather, w.Idle))}
}

// idle has pods wait for those that come a moment later.
func (w Window) idle(a Arriving) plan.Delay {
	until, part := w.quiet(a), a.First.Add(flow)
	if part.Before(until) {
		until = part
	}
	return plan.Delay{Code: reason.PodsFollow, Until: until}
}

// quiet is when the burst is over if no pod comes any more.
func (w Window) quiet(a Arriving) time.Time {
	if a.doubtful() {
		return a.Last.Add(w.Idle)
	}
	return a.Last.Add(min(calm, w.Idle))
}
