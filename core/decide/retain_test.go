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
