package telemetry

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// Only the first time of each step counts, and Decide returns the delay only once.
func TestPodProgress(t *testing.T) {
	t.Parallel()
	var progress PodProgress
	at := func(seconds int) time.Time { return time.Unix(int64(seconds), 0) }
	if _, isFirst := progress.Decide("unseen", at(1)); isFirst {
		t.Error("a decision about a pod that was never seen is timed")
	}
	progress.See("a", at(1))
	progress.See("a", at(2))
	if after, isFirst := progress.Decide("a", at(4)); !isFirst || after != 3*time.Second {
		t.Errorf("decided after %s, first: %t", after, isFirst)
	}
	if _, isFirst := progress.Decide("a", at(5)); isFirst {
		t.Error("the second decision is told as the first")
	}
	progress.Place("a", at(6))
	progress.Place("a", at(7))
	if diff := cmp.Diff(Steps{Seen: at(1), Decided: at(4), Placed: at(6)}, progress.Of("a")); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	progress.See("b", at(1))
	progress.Forget("a")
	progress.Keep(map[types.UID]bool{"unseen": true})
	for _, pod := range []types.UID{"a", "b"} {
		if got := progress.Of(pod); got != (Steps{}) {
			t.Errorf("%s is forgotten, but has %v", pod, got)
		}
	}
}

// The memory for pods is limited.
func TestPodProgressIsBounded(t *testing.T) {
	t.Parallel()
	var progress PodProgress
	for i := range mostPods + 10 {
		progress.See(types.UID(fmt.Sprint(i)), time.Unix(0, 0))
	}
	if len(progress.steps) != mostPods {
		t.Errorf("remembers %d, want %d", len(progress.steps), mostPods)
	}
}
