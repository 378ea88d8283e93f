package wait

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// Moves that save money wait for other nodes of their pool that will be free in a moment, and
// for no longer than a period; nothing else waits.
func TestMovesWaitForNeighbours(t *testing.T) {
	t.Parallel()
	const a, b = "a", "b"
	of := func(reason plan.Reason, pools ...string) plan.Disruption {
		d := plan.Disruption{Reason: reason}
		for _, pool := range pools {
			d.Nodes = append(d.Nodes, plan.Removal{Pool: pool})
		}
		return d
	}
	moves := of(plan.Underutilized, a)
	type look struct {
		at    int            // seconds
		free  map[string]int // when another node of the pool will be, in seconds
		plan  []plan.Disruption
		begun []plan.Disruption
	}
	for name, looks := range map[string][]look{
		"nothing to wait for": {{0, nil, []plan.Disruption{moves}, []plan.Disruption{moves}}},
		"a node that is nearly free": {
			{0, map[string]int{a: 4}, []plan.Disruption{moves}, nil},
			{10, nil, []plan.Disruption{moves}, []plan.Disruption{moves}},
		},
		"one that comes too late":    {{0, map[string]int{a: 11}, []plan.Disruption{moves}, []plan.Disruption{moves}}},
		"one that should be free":    {{5, map[string]int{a: 5}, []plan.Disruption{moves}, []plan.Disruption{moves}}},
		"one of another pool":        {{0, map[string]int{b: 4}, []plan.Disruption{moves}, []plan.Disruption{moves}}},
		"empty and drifted nodes go": {{0, map[string]int{a: 4}, []plan.Disruption{of(plan.Empty, a), of(plan.Drifted, a), moves}, []plan.Disruption{of(plan.Empty, a), of(plan.Drifted, a)}}},
		"nodes of two pools": {
			{0, map[string]int{b: 4}, []plan.Disruption{of(plan.Underutilized, a, b)}, nil},
			{10, map[string]int{a: 12}, []plan.Disruption{of(plan.Underutilized, a, b)}, []plan.Disruption{of(plan.Underutilized, a, b)}},
		},
		"always another": {
			{0, map[string]int{a: 4}, []plan.Disruption{moves}, nil},
			{5, map[string]int{a: 12}, []plan.Disruption{moves}, nil},
			{10, map[string]int{a: 14}, []plan.Disruption{moves}, []plan.Disruption{moves}},
			{20, map[string]int{a: 24}, []plan.Disruption{moves}, nil},
		},
		"for something else than before": {
			{0, map[string]int{a: 4}, []plan.Disruption{moves}, nil},
			{10, nil, nil, nil},
			{20, map[string]int{a: 24}, []plan.Disruption{moves}, nil},
		},
	} {
		start := time.Unix(1_800_000_000, 0)
		seconds := func(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }
		var before snapshot.Waiting
		for _, l := range looks {
			p := &plan.Plan{Disruptions: l.plan, Prospects: []plan.Prospect{{Pool: a, Kind: plan.Kept}}}
			for pool, at := range l.free {
				p.Prospects = append(p.Prospects, plan.Prospect{Pool: pool, Kind: plan.Waiting, Until: seconds(at)})
			}
			p.Disruptions = slices.Clone(p.Disruptions)
			before = Disruptions(&snapshot.Snapshot{Now: seconds(l.at), Waiting: before}, p)
			var got []plan.Disruption
			for _, d := range p.Disruptions {
				if d.Now() {
					got = append(got, d)
				} else if d.Delay.Code != reason.NodesFreeSoon || !d.Delay.Until.After(seconds(l.at)) || d.Delay.Until.After(seconds(l.at+10)) {
					t.Errorf("%s: after %d seconds the delay is %+v", name, l.at, d.Delay)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(l.begun) {
				t.Errorf("%s: after %d seconds %v is begun, and not %v", name, l.at, got, l.begun)
			}
		}
	}
}
