package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// A group grows once, by all nodes that pods and buffers need now.
func TestIncreases(t *testing.T) {
	t.Parallel()
	s := &snapshot.Snapshot{Pools: []snapshot.Pool{
		{Name: "nodegroup/b", Group: &snapshot.Group{Name: "B", Desired: 3}}, {Name: "nodegroup/a", Group: &snapshot.Group{Name: "A"}}, {Name: "pool"},
	}}
	later := plan.Claim{Group: "A"}
	later.Delay.Code = reason.BurstGoesOn
	p := plan.Plan{Claims: []plan.Claim{{Group: "B"}, {Pool: "pool"}, later}, Spare: []plan.Claim{{Group: "A"}, {Group: "B"}, later}}
	want := []plan.Increase{{Group: "B", From: 3, To: 5}, {Group: "A", From: 0, To: 1}}
	if diff := cmp.Diff(want, p.Increases(s)); diff != "" {
		t.Errorf("increases (-want +got):\n%s", diff)
	}
}
