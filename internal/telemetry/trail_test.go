package telemetry

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// Only the first time of each step counts, and the first decision is told.
func TestTrail(t *testing.T) {
	t.Parallel()
	var trail Trail
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	if _, isFirst := trail.Decide("unseen", at(1)); isFirst {
		t.Error("a decision about a pod that was never seen is timed")
	}
	trail.See("a", at(1))
	trail.See("a", at(2))
	if after, isFirst := trail.Decide("a", at(4)); !isFirst || after != 3*time.Second {
		t.Errorf("decided after %s, first: %t", after, isFirst)
	}
	if _, isFirst := trail.Decide("a", at(5)); isFirst {
		t.Error("the second decision is told as the first")
	}
	trail.Place("a", at(6))
	trail.Place("a", at(7))
	if diff := cmp.Diff(Steps{Seen: at(1), Decided: at(4), Placed: at(6)}, trail.Of("a")); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	trail.See("b", at(1))
	trail.Forget("a")
	trail.Keep(map[types.UID]bool{"unseen": true})
	for _, pod := range []types.UID{"a", "b"} {
		if got := trail.Of(pod); got != (Steps{}) {
			t.Errorf("%s is forgotten, but has %v", pod, got)
		}
	}
}

// What is remembered is bounded.
func TestTrailIsBounded(t *testing.T) {
	t.Parallel()
	var trail Trail
	for i := range longestTrail + 10 {
		trail.See(types.UID(fmt.Sprint(i)), time.Unix(0, 0))
	}
	if len(trail.steps) != longestTrail {
		t.Errorf("remembers %d, want %d", len(trail.steps), longestTrail)
	}
}
