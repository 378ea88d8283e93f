package provisioner_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

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
