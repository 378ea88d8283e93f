package wait

import (
	"testing"
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Moves that save money wait while more than two percent of all pods are on their way to their
// places or about to end, or a pod is still to be moved or has lost its place, for two minutes at most each, and again after a
// time without so many.
func TestArrivals(t *testing.T) {
	t.Parallel()
	var before snapshot.Waiting
	start := time.Unix(1_800_000_000, 0)
	const none, come, leave = reason.None, reason.PodsArriving, reason.PodsLeaving
	for _, look := range []struct {
		at, placed, moving, leaving, pods int
		why                               reason.Code
	}{
		{0, 0, 0, 0, 0, none}, {1, 20, 0, 0, 1000, none}, {2, 21, 0, 0, 1000, come}, {60, 900, 0, 0, 1000, come}, {121, 900, 0, 0, 1000, come},
		{122, 900, 0, 0, 1000, none}, {123, 900, 0, 0, 1000, none}, {130, 5, 0, 0, 1000, none}, {140, 900, 0, 0, 1000, come},
		{150, 5, 0, 0, 1000, none}, {151, 0, 1, 0, 1000, come}, {270, 0, 7, 0, 1000, come}, {271, 0, 7, 0, 1000, none}, {280, 0, 0, 0, 1000, none},
		{290, 0, 0, 20, 1000, none}, {300, 0, 0, 21, 1000, leave}, {310, 30, 0, 900, 1000, come}, {419, 0, 0, 900, 1000, leave},
		{420, 0, 0, 900, 1000, none}, {430, 0, 0, 0, 1000, none},
		{500, 900, 0, 0, 1000, come}, {610, 900, 5, 0, 1000, come}, {625, 900, 5, 0, 1000, come}, {729, 0, 5, 0, 1000, come}, {730, 0, 5, 0, 1000, none},
	} {
		s := &snapshot.Snapshot{Now: start.Add(time.Duration(look.at) * time.Second), Waiting: before}
		s.Waiting.Placed, s.Waiting.Moving, s.Waiting.Leaving, s.Pods = look.placed, look.moving, look.leaving, make([]snapshot.Pod, look.pods)
		p := &plan.Plan{Disruptions: []plan.Disruption{{Reason: plan.Drifted}, {Reason: plan.Empty}, {Reason: plan.Underutilized}}}
		if in := InTransit(s); in != (look.why != none) {
			t.Errorf("after %d s: in transit %v, want the opposite", look.at, in)
		}
		before = Disruptions(s, p)
		if !p.Disruptions[0].Now() || !p.Disruptions[1].Now() {
			t.Error("what is not there to save money waits")
		}
		delay := p.Disruptions[2].Delay
		if delay.Code != look.why || delay.Until.After(s.Now) != (look.why != none) {
			t.Errorf("after %d s with %d of %d pods on their way, %d to be moved, %d about to end: waits for %q", look.at, look.placed, look.pods, look.moving, look.leaving, delay.Code)
		}
	}
}

// move says what a move that saves money waits for, and what is to be remembered for the next look.
func move(s *snapshot.Snapshot) (snapshot.Waiting, reason.Code) {
	p := &plan.Plan{Disruptions: []plan.Disruption{{Reason: plan.Underutilized}}}
	return Disruptions(s, p), p.Disruptions[0].Delay.Code
}

// A scale-down that goes on is waited for, however long it takes: moves wait for two minutes since it last came a tenth further.
func TestMovesWaitForALongScaleDown(t *testing.T) {
	t.Parallel()
	var before snapshot.Waiting
	start := time.Unix(1_800_000_000, 0)
	for _, look := range []struct {
		at, leaving int
		why         reason.Code
	}{
		{0, 3500, reason.PodsLeaving}, {119, 3151, reason.PodsLeaving}, {120, 3151, reason.None}, // it hangs
		{130, 3000, reason.PodsLeaving}, {240, 2500, reason.PodsLeaving}, {359, 2500, reason.PodsLeaving}, {360, 2500, reason.None},
		{361, 3500, reason.None}, // more that are to end are no progress
		{362, 2000, reason.PodsLeaving}, {370, 0, reason.None}, {380, 3500, reason.PodsLeaving}, {499, 3500, reason.PodsLeaving}, {500, 3500, reason.None},
	} {
		s := &snapshot.Snapshot{Now: start.Add(time.Duration(look.at) * time.Second), Waiting: before, Pods: make([]snapshot.Pod, 5000)}
		s.Waiting.Leaving = look.leaving
		var why reason.Code
		if before, why = move(s); why != look.why {
			t.Errorf("after %d s with %d pods about to end: waits for %q, want %q", look.at, look.leaving, why, look.why)
		}
	}
}

// Moves that save money wait while at least three Deployments were scaled down a moment ago by more than two percent of all pods, for two minutes at most:
// when pods end as fast as their Deployments are scaled down, hardly any are about to end at any time.
func TestMovesWaitForTheNextScaleDown(t *testing.T) {
	t.Parallel()
	var before snapshot.Waiting
	start := time.Unix(1_800_000_000, 0)
	for _, look := range []struct {
		at, deployments, pods int
		why                   reason.Code
	}{
		{0, 2, 500, reason.None}, {1, 3, 20, reason.None}, {2, 3, 21, reason.PodsLeaving}, {4, 3, 21, reason.PodsLeaving}, {5, 0, 0, reason.None},
		{10, 9, 90, reason.PodsLeaving}, {129, 9, 90, reason.PodsLeaving}, {130, 9, 90, reason.None},
	} {
		s := &snapshot.Snapshot{Now: start.Add(time.Duration(look.at) * time.Second), Waiting: before, Pods: make([]snapshot.Pod, 1000)}
		s.Waiting.ScaledDown = snapshot.ScaledDown{Deployments: look.deployments, Pods: look.pods}
		var why reason.Code
		if before, why = move(s); why != look.why {
			t.Errorf("after %d s with %d pods of %d Deployments: waits for %q, want %q", look.at, look.pods, look.deployments, why, look.why)
		}
		if over := (Transit{All: 1000, ScaledDown: s.Waiting.ScaledDown}).Over(); over != (look.deployments < 3 || look.pods < 21) {
			t.Errorf("after %d s the transit is over: %t", look.at, over)
		}
	}
}

// Moves that save money wait for the last of the pods that take their places: kube-scheduler tries a pod again within ten
// seconds, and binds it a moment later.
func TestMovesWaitForTheLastArrivals(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_800_000_000, 0)
	for _, look := range []struct {
		placed int
		landed time.Duration // ago
		why    reason.Code
	}{
		{1, 14 * time.Second, reason.PodsArriving}, {1, 15 * time.Second, reason.None}, {0, time.Second, reason.None}, {21, time.Minute, reason.PodsArriving},
	} {
		s := &snapshot.Snapshot{Now: start, Pods: make([]snapshot.Pod, 1000)}
		s.Waiting.Placed, s.Waiting.Landed = look.placed, start.Add(-look.landed)
		if _, why := move(s); why != look.why {
			t.Errorf("with %d pods on their way, the last one landed %s ago: waits for %q, want %q", look.placed, look.landed, why, look.why)
		}
	}
}

// Moves that save money wait while a pod that has lost its place has no other, for two minutes at most: it would take the
// room that is made for the pods that move.
func TestMovesWaitForLostPods(t *testing.T) {
	t.Parallel()
	var before snapshot.Waiting
	start := time.Unix(1_800_000_000, 0)
	for _, look := range []struct {
		at, lost int
		why      reason.Code
	}{
		{0, 0, reason.None}, {10, 1, reason.PodsArriving}, {129, 2, reason.PodsArriving}, {130, 1, reason.None}, {140, 0, reason.None}, {150, 1, reason.PodsArriving},
	} {
		s := &snapshot.Snapshot{Now: start.Add(time.Duration(look.at) * time.Second), Waiting: before, Pods: make([]snapshot.Pod, 1000)}
		s.Waiting.Lost = make([]snapshot.Lost, look.lost)
		var why reason.Code
		if before, why = move(s); why != look.why {
			t.Errorf("after %d s with %d lost pods: waits for %q, want %q", look.at, look.lost, why, look.why)
		}
		if over := (Transit{Lost: look.lost, All: 1000}).Over(); over != (look.lost == 0) {
			t.Errorf("with %d lost pods the transit is over: %t", look.lost, over)
		}
	}
}
