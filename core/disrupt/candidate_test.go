package disrupt

import (
	"testing"
	"time"

	"tenon/core/catalog"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// A node whose price is not known is left alone. One in a reservation may cost nothing.
func TestPricesThatAreNotKnown(t *testing.T) {
	t.Parallel()
	after := time.Minute
	x := &search{s: &snapshot.Snapshot{Pools: []snapshot.Pool{{Name: "default", Consolidation: snapshot.Consolidation{After: &after}}}}}
	for way, kept := range map[string]bool{catalog.OnDemand: true, catalog.Spot: true, catalog.Reserved: false} {
		n := &node{Node: &snapshot.Node{InstanceType: "m5.large", Labels: map[string]string{
			requirement.KeyCapacityType: way, requirement.KeyZone: "a",
		}}, cost: 1}
		if cause := x.excluded(n); (cause.Code == reason.PriceUnknown) != kept {
			t.Errorf("%s: %q, want that it is kept: %t", way, cause.Code, kept)
		}
	}
}
