package provisioner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"tenon/core/decide"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// check compares the controller's decision with a plan of its snapshot.
func (h *fixture) check(s *snapshot.Snapshot, d *decide.Decision) {
	again := h.Replay(s, decide.Budget{}, d)
	h.told = &again
}

// TestAPlanOfTheSnapshotSaysWhatIsDone: in a burst, the controller creates the claims that the plan
// of its snapshot marks for now, and all others wait for the burst.
func TestAPlanOfTheSnapshotSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("", 100)
	h.Clock.Step(time.Second - time.Millisecond)
	h.pods("other", 1)
	h.Clock.Step(time.Millisecond)
	h.Run(h.loop, "")
	var now []string
	p := &h.told.Plan
	for i := range p.Claims {
		if c := &p.Claims[i]; c.Now() {
			now = append(now, fmt.Sprintf("%s %s", c.Pool, reason.Quantity("cpu", c.Requests.CPU)))
		}
	}
	made := h.claims()
	slices.Sort(now)
	slices.Sort(made)
	if !slices.Equal(now, made) || len(made) == 0 {
		t.Errorf("the plan makes %v now, and %v are made", now, made)
	}
	if left := p.Delayed(reason.BurstGoesOn); left == 0 || left != h.world.Pulse().Waiting {
		t.Errorf("by the plan %d pods wait for the burst, and %d do", left, h.world.Pulse().Waiting)
	}
}

// slow is a clock on which the core takes its time for a decision: the controller looks how long it took.
type slow struct {
	*clocktesting.FakeClock
	took time.Duration
}

func (s slow) Since(t time.Time) time.Duration {
	s.Step(s.took)
	return s.FakeClock.Since(t)
}

// TestABurstThatEndsDuringADecisionIsBoughtAsAWhole: the snapshot says so, and no part waits for another decision.
func TestABurstThatEndsDuringADecisionIsBoughtAsAWhole(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	kit := h.Kit
	kit.Clock = slow{h.Clock, time.Second}
	h.start(kit)
	h.pods("", 100)
	h.Clock.Step(time.Second - time.Millisecond)
	h.pods("other", 1)
	h.Clock.Step(time.Millisecond)
	h.Run(h.loop, "")
	if left := h.told.Plan.Delayed(reason.BurstGoesOn); left != 0 || h.world.Pulse().Waiting != 0 {
		t.Errorf("by the plan %d pods wait for the burst, and %d do; want none", left, h.world.Pulse().Waiting)
	}
}
