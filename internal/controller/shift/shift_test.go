package shift

import (
	"context"
	"errors"
	"testing"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud/aws/detour"
	"tenon/cloud/memory"
	"tenon/internal/reconcile"
	"tenon/internal/rig"
)

// Pools that may have nodes in the zone are told; others are not.
func TestTell(t *testing.T) {
	t.Parallel()
	subnets := []awsv1.Subnet{{ID: "subnet-1", Zone: "a", ZoneID: "az1"}, {ID: "subnet-2", Zone: "b", ZoneID: "az2"}}
	everywhere, elsewhere := rig.Pool("everywhere"), rig.Pool("elsewhere")
	elsewhere.Spec.Template.Spec.Requirements = append(elsewhere.Spec.Template.Spec.Requirements, rig.Requirement("topology.kubernetes.io/zone", "b"))
	change := detour.Change{Began: []string{"az1"}, Ended: []string{"az9"}}
	events := tell(everywhere, subnets, change)
	if len(events) != 1 || events[0].Reason != "ZonalShiftActive" ||
		events[0].Message != "Zonal shift detected: offerings in zone a (az1) are unavailable for this NodePool" {
		t.Errorf("events are %+v", events)
	}
	if events := tell(elsewhere, subnets, change); len(events) != 0 {
		t.Errorf("a pool elsewhere is told %+v", events)
	}
	if events := tell(everywhere, subnets, detour.Change{Ended: []string{"az2"}}); len(events) != 1 ||
		events[0].Message != "Zonal shift cleared: offerings in zone b (az2) are restored for this NodePool" {
		t.Errorf("events are %+v", events)
	}
}

type watch struct {
	change detour.Change
	err    error
}

func (w watch) Poll(context.Context) (detour.Change, error) { return w.change, w.err }

// A pool whose class nobody knows keeps nobody from looking again.
func TestRounds(t *testing.T) {
	t.Parallel()
	r := rig.New(t, memory.Options{}, rig.Pool("default"))
	if result := r.Run(New(r.Kit, watch{change: detour.Change{Began: []string{"az1"}}}), ""); result != reconcile.In(period) {
		t.Errorf("the next look is in %v", result)
	}
	failure := errors.New("down")
	if _, err := New(r.Kit, watch{err: failure}).Reconcile(t.Context(), reconcile.Key{}); !errors.Is(err, failure) {
		t.Errorf("error %v, want %v", err, failure)
	}
}
