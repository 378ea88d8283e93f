package wait

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Pods of a node that a disruption takes want no place, those of a node that leaves for another cause do.
func TestArranged(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{
		Nodes: []snapshot.Node{{Name: "under-way", Leaving: true, Life: snapshot.Life{Underway: "Drifted"}}, {Name: "deleted", Leaving: true}, {Name: "stays"}},
		Pods:  []snapshot.Pod{{Pending: true}, {Node: "deleted", Movable: true}, {Node: "under-way", Movable: true}, {Node: "under-way"}, {Node: "stays"}},
	}
	held := Pods(s)
	if diff := cmp.Diff([]plan.Held{{Pod: 2, Delay: plan.Delay{Code: reason.PlacesArranged}}}, held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	without := Without(s, held)
	if without.Pods[2].Movable || !without.Pods[1].Movable || !without.Pods[0].Pending || !s.Pods[2].Movable {
		t.Error("the pod that is held, and no other, wants no place any more; the snapshot is not changed")
	}
}
