package memory_test

import (
	"testing"

	"tenon/cloud"
	"tenon/cloud/conformance"
	"tenon/cloud/memory"
)

// TestGroupConformance tries the laws of groups on those in memory.
func TestGroupConformance(t *testing.T) {
	t.Parallel()
	conformance.RunGroups(t, func(*testing.T) conformance.GroupHarness {
		g := memory.NewGroups(cloud.Group{Name: "web", Min: 1, Max: 5, Desired: 2, Types: []string{"m5.large"}, Zones: []string{"a"}})
		g.Limit("web", 2)
		return conformance.GroupHarness{Groups: g, Group: "web", Set: func(n int64) { g.Set("web", n) }, Writes: g.Writes, Ended: g.Ended, Desired: func() int64 {
			list, err := g.Groups(t.Context())
			if err != nil {
				t.Error(err)
			}
			return list[0].Desired
		}}
	})
}

// TestGroupsWithoutStock launch no more instances than there are.
func TestGroupsWithoutStock(t *testing.T) {
	t.Parallel()
	g := memory.NewGroups(cloud.Group{Name: "web", Max: 5, Desired: 3, Types: []string{"m5.large"}, Zones: []string{"a"}})
	g.Limit("web", 1)
	if list, err := g.Groups(t.Context()); err != nil || len(list[0].Instances) != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
}
