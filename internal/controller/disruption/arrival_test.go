package disruption

import (
	"testing"
	"time"
)

// Moves that save money wait while more than two percent of all pods are on their way to their
// places, for two minutes at most, and again after a time without so many.
func TestArrivals(t *testing.T) {
	t.Parallel()
	a := arrivals{}
	start := time.Unix(1_800_000_000, 0)
	for _, look := range []struct {
		at, placed, pods int
		waits            bool
	}{
		{0, 0, 0, false}, {1, 20, 1000, false}, {2, 21, 1000, true}, {60, 900, 1000, true}, {121, 900, 1000, true},
		{122, 900, 1000, false}, {123, 900, 1000, false}, {130, 5, 1000, false}, {140, 900, 1000, true},
	} {
		if waits := a.wait(look.placed, look.pods, start.Add(time.Duration(look.at)*time.Second)); waits != look.waits {
			t.Errorf("after %d s with %d of %d pods on their way: waits %t", look.at, look.placed, look.pods, waits)
		}
	}
}
