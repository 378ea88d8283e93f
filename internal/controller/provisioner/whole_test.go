package provisioner_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// replay decides once more about a snapshot that the controller took, as it is in a file.
func replay(t *testing.T, s *snapshot.Snapshot) decide.Decision {
	t.Helper()
	var file bytes.Buffer
	if err := snapshot.Write(&file, s); err != nil {
		t.Fatal(err)
	}
	read, err := snapshot.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	return decide.Decide(read, decide.Budget{})
}

// check compares what the controller decided with what a plan of its snapshot says.
func (h *house) check(s *snapshot.Snapshot, d *decide.Decision) {
	again := replay(h.t, s)
	h.told = &again
	if was, is := planned(h.t, *d), planned(h.t, again); was != is {
		h.t.Errorf("the controller decided\n%s\nand a plan of its snapshot says\n%s", was, is)
	}
}

// TestAPlanOfTheSnapshotSaysWhatIsDone: in a burst, of a plan for the snapshot that the controller
// took, the claims that are for now are made, all others say that they wait for the burst.
func TestAPlanOfTheSnapshotSaysWhatIsDone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, ready("default"))
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
