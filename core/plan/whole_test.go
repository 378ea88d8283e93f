package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/model"
	"tenon/core/snapshot"
)

// The whole of a plan has every new node and every pod that gets a place on an old one,
// and a bound that proves nothing is not believed.
func TestWhole(t *testing.T) {
	t.Parallel()
	p := Plan{
		Claims:   []Claim{{Name: "p-1", Offer: Offer{Price: 10}, Pods: []snapshot.PodIndex{0}}},
		Existing: []Placement{{Node: "b", Pods: []snapshot.PodIndex{5}}},
		Cost:     Cost{New: 10, LowerBound: 9},
		Disruptions: []Disruption{
			{Nodes: []Removal{{Node: "x", Price: 50}}, Replacements: []Claim{{Name: "p-2", Offer: Offer{Price: 20}, Pods: []snapshot.PodIndex{3}}}, Savings: 30},
			{Nodes: []Removal{{Node: "y", Price: 5}}, Moves: []Placement{{Node: "b", Pods: []snapshot.PodIndex{2}}, {Node: "a", Pods: []snapshot.PodIndex{4}}}, Savings: 5},
		},
	}
	for _, c := range []struct {
		name         string
		bound, wants int64
	}{{"higher", 25, 25}, {"lower than that of a part", 1, 9}, {"above the price", 99, 30}} {
		whole := p.Whole(model.Money(c.bound))
		if int64(whole.Cost.LowerBound) != c.wants || whole.Cost.New != 30 || len(whole.Claims) != 2 {
			t.Errorf("a bound that is %s: %+v for %d claims", c.name, whole.Cost, len(whole.Claims))
		}
		want := []Placement{{Node: "a", Pods: []snapshot.PodIndex{4}}, {Node: "b", Pods: []snapshot.PodIndex{2, 5}}}
		if diff := cmp.Diff(want, whole.Existing); diff != "" {
			t.Errorf("existing: -want +got\n%s", diff)
		}
	}
	if len(p.Claims) != 1 || len(p.Existing[0].Pods) != 1 || len(p.Removed()) != 2 {
		t.Error("the plan itself was changed")
	}
	if a, b := &p.Disruptions[0], &p.Disruptions[1]; a.Decision() != "replace" || b.Decision() != "delete" || a.Evictions() != 1 || b.Evictions() != 2 {
		t.Errorf("%s %d, %s %d", a.Decision(), a.Evictions(), b.Decision(), b.Evictions())
	}
}
