package wait

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Of each workload as many new pods wait as others of it end, the oldest first, and none of them for
// longer than ten seconds.
func TestHandOver(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	ago := func(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }
	s := &snapshot.Snapshot{
		Now: now,
		Pods: []snapshot.Pod{
			{UID: "c", Pending: true, Created: ago(2)}, {UID: "a", Pending: true, Created: ago(10)}, {UID: "b", Pending: true, Created: ago(9)},
			{UID: "d", Pending: true, Created: ago(1)}, {UID: "placed"}, {UID: "other", Pending: true, Created: ago(1)},
		},
		Waiting: snapshot.Waiting{Successions: []snapshot.Succession{
			{Places: 2, Pods: []snapshot.Successor{{UID: "a", Created: ago(10)}, {UID: "b", Created: ago(9)}, {UID: "c", Created: ago(2)}, {UID: "d", Created: ago(1)}}},
			{Places: 1, Pods: []snapshot.Successor{{UID: "placed", Created: ago(1)}}},
		}},
	}
	held := Pods(s)
	want := []plan.Held{
		{Pod: 0, Delay: plan.Delay{Code: reason.PlaceHandedOver, Until: ago(-8)}}, {Pod: 2, Delay: plan.Delay{Code: reason.PlaceHandedOver, Until: ago(-1)}},
	}
	if diff := cmp.Diff(want, held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	without := Without(s, held)
	if without.Pods[0].Pending || without.Pods[2].Pending || !without.Pods[1].Pending || !s.Pods[0].Pending {
		t.Error("the pods that are held, and no others, want no place any more; the snapshot is not changed")
	}
	if Without(s, nil) != s || Pods(without) != nil {
		t.Error("without pods that are held, the snapshot is the same")
	}
}
