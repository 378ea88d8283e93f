package randomcluster

import (
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/testing/apply"
)

// TestFleetsSettle carries plans out and decides again: within a few rounds nothing is worth doing any
// more, and that remains so for a day. Pods are moved twice to save money only where that saves twice
// what the pod costs.
func TestFleetsSettle(t *testing.T) {
	t.Parallel()
	once, twice := 0, 0
	for seed := *first; seed < *first+*seeds/4; seed++ {
		s := Fleet(seed, 8).Snapshot()
		for i := range s.Pods {
			s.Pods[i].Tie.Until = time.Time{} // the end of a protection would change the decision
			s.Pods[i].Ends = s.Pods[i].Template%5 == 0
		}
		moved := map[string]int{}
		busy := 0
		for round := range 40 {
			p, failure := decided(s)
			if failure != "" {
				t.Fatalf("seed %d: %s", seed, failure)
			}
			countMoves(s, p, moved)
			if len(p.Disruptions) > 0 {
				busy = round
			}
			pause := 5 * time.Minute
			if round >= 16 {
				pause = time.Hour
			}
			s, _ = apply.Of(s, p, pause, round)
		}
		if busy >= 14 {
			t.Errorf("seed %d: something was given up in round %d still", seed, busy)
		}
		for _, n := range moved {
			if once++; n > 1 {
				twice++
			}
		}
	}
	if twice*50 > once {
		t.Errorf("%d of %d pods that were moved were moved again", twice, once)
	}
	t.Logf("%d pods were moved, %d of them again", once, twice)
}

func countMoves(s *snapshot.Snapshot, p *plan.Plan, moved map[string]int) {
	count := func(pods []snapshot.PodIndex) {
		for _, i := range pods {
			moved[s.Pods[i].Key()]++
		}
	}
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		if d.Reason != plan.Underutilized {
			continue
		}
		for k := range d.Replacements {
			count(d.Replacements[k].Pods)
		}
		for k := range d.Moves {
			count(d.Moves[k].Pods)
		}
	}
}

// TestSweepGoesOn gives each evaluation almost no effort: successive evaluations still reach every node.
func TestSweepGoesOn(t *testing.T) {
	t.Parallel()
	for seed := *first; seed < *first+*seeds/4; seed++ {
		s := Fleet(seed, 8).Snapshot()
		sorted := snapshot.Sort(s, nil)
		p := decide.Decide(sorted.Snapshot, decide.Budget{Steps: budget.Steps}).Plan
		waits, after := map[string]bool{}, ""
		for round := range 2 * len(s.Nodes) {
			out := disrupt.Plan(sorted, &p, disrupt.Budget{Steps: 1, After: after})
			for _, o := range out.Prospects {
				unseen := o.Skipped() && o.Reason == plan.Underutilized
				waits[o.Node] = unseen && (round == 0 || waits[o.Node])
			}
			if after = out.Next; after == "" {
				break
			}
		}
		for node, still := range waits {
			if still {
				t.Errorf("seed %d: %s was never looked at", seed, node)
			}
		}
	}
}
