package decide_test

import (
	"fmt"
	"strings"
	"testing"

	"tenon/core/decide"
)

// Nodes of one size hold five pods each, and would hold fifteen. The pods of those that go are moved in
// groups. None of the groups fills its last node; they share one instead of buying a smaller one each.
func TestNothingIsBoughtBesideEnoughRoom(t *testing.T) {
	t.Parallel()
	for _, nodes := range []int{123, 189, 300} {
		var text strings.Builder
		text.WriteString("consolidate\n")
		for _, cpus := range []int{1, 2, 4, 8, 15} {
			fmt.Fprintf(&text, "type c%d cpu=%d mem=64Gi price=%.2f\n", cpus, cpus, float64(cpus)*0.04)
		}
		for n := range nodes {
			fmt.Fprintf(&text, "node n%03d type=c15\npods web%03d x5 cpu=1 on=n%03d\n", n, n, n)
		}
		p := decide.Decide(parseScenario(t, text.String()), decide.Budget{Disrupt: true}).Plan
		gone := 0
		for _, d := range p.Disruptions {
			gone += len(d.Nodes)
			for _, c := range d.Replacements {
				t.Errorf("%d nodes: a %s is bought for %d pods", nodes, c.Offer.InstanceType, len(c.Pods))
			}
		}
		if want := nodes - (nodes*5+14)/15; gone != want {
			t.Errorf("%d of %d nodes go, want %d", gone, nodes, want)
		}
	}
}

// The pods of 20 like nodes need seven of them. The seventh stays, instead of one like it that is bought.
func TestANodeIsKeptInsteadOfOneLikeIt(t *testing.T) {
	t.Parallel()
	text := "consolidate\ntype c15 cpu=15 mem=64Gi price=0.60\n"
	for n := range 20 {
		text += fmt.Sprintf("node n%02d type=c15\npods web%02d x5 cpu=1 on=n%02d\n", n, n, n)
	}
	ds := decide.Decide(parseScenario(t, text), decide.Budget{Disrupt: true}).Plan.Disruptions
	if len(ds) != 1 || len(ds[0].Nodes) != 13 || len(ds[0].Replacements) > 0 {
		t.Errorf("want one disruption of 13 nodes that buys none: %+v", ds)
	}
}
