package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Every number of a pod in a plan is another afterwards; lists stay in order, and evictions in theirs.
func TestRenumber(t *testing.T) {
	t.Parallel()
	of := func(pods ...snapshot.PodIndex) Plan {
		return Plan{
			Claims: []Claim{{Pods: pods[:2]}}, Existing: []Placement{{Pods: pods[2:4]}},
			Unplaced: []Unplaced{{Pod: pods[4], Verdict: &reason.Verdict{}}, {Pod: pods[5], Verdict: &reason.Verdict{}}},
			Disruptions: []Disruption{{
				Nodes: []Removal{{Pods: pods[6:8]}}, Replacements: []Claim{{Pods: pods[8:9]}}, Moves: []Placement{{Pods: pods[9:10]}}, Evict: pods[10:],
			}},
		}
	}
	p := of(0, 1, 2, 3, 4, 5, 6, 7, 6, 7, 6, 7)
	p.Renumber(func(pod snapshot.PodIndex) snapshot.PodIndex { return 7 - pod })
	want := of(6, 7, 4, 5, 2, 3, 0, 1, 1, 0, 1, 0)
	if diff := cmp.Diff(want.Claims, p.Claims, cmp.AllowUnexported(Offers{})); diff != "" {
		t.Error(diff)
	}
	for _, diff := range []string{
		cmp.Diff(want.Existing, p.Existing), cmp.Diff(want.Unplaced, p.Unplaced),
		cmp.Diff(want.Disruptions[0].Nodes, p.Disruptions[0].Nodes), cmp.Diff(want.Disruptions[0].Moves, p.Disruptions[0].Moves),
		cmp.Diff(want.Disruptions[0].Replacements[0].Pods, p.Disruptions[0].Replacements[0].Pods), cmp.Diff(want.Disruptions[0].Evict, p.Disruptions[0].Evict),
	} {
		if diff != "" {
			t.Error(diff)
		}
	}
}
