package randomcluster

import (
	"testing"
	"time"

	"tenon/core/decide"
	"tenon/core/disrupt"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/internal/testing/apply"
)

// TestFleetsSettle carries plans out and decides again: within a few rounds nothing is worth doing any
// more, and that remains so for a day. Pods are moved twice to save money only where that saves twice
// what the pods cost, or where their node is badly used: every such move saves a good part of its nodes' price.
//
// That few pods are moved twice is no rule of the product. In fleets of eight nodes of which budgets let one go
// at a time, a node that takes pods may be the next to go, and the room on a node bought for one move is room for
// others. Of 30 such pods in 375 fleets 13 had been moved to a node that stayed only because a budget, a nomination or
// the rules of pods held it; 11 to a node that was merged with others, or filled others that were bought at the same time
// or later; 6 to a new node although another had room, which was not asked, or took only pods that end. In ranges of 375
// fleets 4.0, 4.3, 4.4 and 8.0 % of the moved pods were moved twice. The limit is on fleets, because one of them may have eleven
// such pods: of 1,500 fleets 76 had some, and of 75 in a row one to seven. To let no node receive that a budget holds gives
// more of them, 36 instead of 30: nodes are bought then that are merged later.
func TestFleetsSettle(t *testing.T) {
	t.Parallel()
	once, twice, restless := 0, 0, uint64(0)
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
			for _, d := range countMoves(s, p, moved) {
				if paid := priceOf(d); d.Savings*leastOfAgain < paid {
					t.Errorf("seed %d: round %d moves pods again, and saves %s of %s", seed, round, d.Savings, paid)
				}
			}
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
		before := twice
		for _, n := range moved {
			if once++; n > 1 {
				twice++
			}
		}
		if twice > before {
			restless++
		}
	}
	if restless*mostAgain > *seeds/4 {
		t.Errorf("%d of %d fleets moved pods again", restless, *seeds/4)
	}
	t.Logf("%d pods were moved, %d of them again, in %d fleets", once, twice, restless)
}

const (
	// leastOfAgain: disruptions that move pods again save one part in so many of their nodes' price, or more.
	leastOfAgain = 12
	// mostAgain: at most one in so many fleets moves pods again.
	mostAgain = 10
)

// countMoves counts the moves of a plan, and returns its disruptions that move pods again.
func countMoves(s *snapshot.Snapshot, p *plan.Plan, moved map[string]int) (again []*plan.Disruption) {
	for i := range p.Disruptions {
		d := &p.Disruptions[i]
		if d.Reason != plan.Underutilized {
			continue
		}
		repeats := false
		count := func(pods []snapshot.PodIndex) {
			for _, i := range pods {
				key := s.Pods[i].Key()
				repeats = repeats || moved[key] > 0
				moved[key]++
			}
		}
		for k := range d.Replacements {
			count(d.Replacements[k].Pods)
		}
		for k := range d.Moves {
			count(d.Moves[k].Pods)
		}
		if repeats {
			again = append(again, d)
		}
	}
	return again
}

// priceOf returns the price of the nodes that a disruption removes.
func priceOf(d *plan.Disruption) (sum model.Money) {
	for _, n := range d.Nodes {
		sum += n.Price
	}
	return sum
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
