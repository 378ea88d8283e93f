package wait

import (
	"testing"
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Moves that save money wait while more than two percent of all pods are on their way to their
// places, or a pod is still to be moved, for two minutes at most, and again after a time without so many.
func TestArrivals(t *testing.T) {
	t.Parallel()
	var before snapshot.Waiting
	start := time.Unix(1_800_000_000, 0)
	for _, look := range []struct {
		at, placed, moving, pods int
		waits                    bool
	}{
		{0, 0, 0, 0, false}, {1, 20, 0, 1000, false}, {2, 21, 0, 1000, true}, {60, 900, 0, 1000, true}, {121, 900, 0, 1000, true},
		{122, 900, 0, 1000, false}, {123, 900, 0, 1000, false}, {130, 5, 0, 1000, false}, {140, 900, 0, 1000, true},
		{150, 5, 0, 1000, false}, {151, 0, 1, 1000, true}, {270, 0, 7, 1000, true}, {271, 0, 7, 1000, false}, {280, 0, 0, 1000, false},
	} {
		s := &snapshot.Snapshot{Now: start.Add(time.Duration(look.at) * time.Second), Waiting: before}
		s.Waiting.Placed, s.Waiting.Moving, s.Pods = look.placed, look.moving, make([]snapshot.Pod, look.pods)
		p := &plan.Plan{Disruptions: []plan.Disruption{{Reason: plan.Drifted}, {Reason: plan.Empty}, {Reason: plan.Underutilized}}}
		before = Disruptions(s, p)
		if !p.Disruptions[0].Now() || !p.Disruptions[1].Now() {
			t.Error("what is not there to save money waits")
		}
		delay := p.Disruptions[2].Delay
		if waits := delay.Code == reason.PodsArriving && delay.Until.After(s.Now); waits != look.waits {
			t.Errorf("after %d s with %d of %d pods on their way, %d to be moved: waits %t", look.at, look.placed, look.pods, look.moving, waits)
		}
	}
}
