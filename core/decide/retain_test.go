package decide_test

import (
	"fmt"
	"math/rand/v2"
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

// 1,500 equal pods are on 233 nodes for 15 of them and one for 7. 100 of the large nodes have room for all: nothing is bought, and the small
// one goes.
func TestThe1500thPodFits(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		var text strings.Builder
		text.WriteString("consolidate\n")
		for _, kind := range []struct {
			pods  int
			price float64
		}{{1, 0.0765}, {3, 0.153}, {7, 0.306}, {15, 0.612}} {
			fmt.Fprintf(&text, "type c%d cpu=%d mem=64Gi price=%.4f\n", kind.pods, kind.pods, kind.price)
		}
		for n, pods := range uneven(rand.New(rand.NewPCG(seed, 1)), 234, 1500) {
			kind := "c15"
			if n == 0 {
				kind = "c7"
			}
			fmt.Fprintf(&text, "node n%03d type=%s\npods web%03d x%d cpu=1 on=n%03d\n", n, kind, n, pods, n)
		}
		gone := 0
		for _, d := range decide.Decide(parseScenario(t, text.String()), decide.Budget{Disrupt: true}).Plan.Disruptions {
			gone += len(d.Nodes)
			for _, c := range d.Replacements {
				t.Errorf("draw %d: a %s is bought for %d pods", seed, c.Offer.InstanceType, len(c.Pods))
			}
		}
		if gone != 134 {
			t.Errorf("draw %d: %d of 234 nodes go, want 134", seed, gone)
		}
	}
}

// uneven divides pods among nodes: at least one for each, at most 15, and at most 7 for the first.
func uneven(r *rand.Rand, nodes, pods int) []int {
	out, weight := make([]int, nodes), make([]int, nodes)
	for i := range out {
		out[i], weight[i] = 1, 1+r.IntN(10)
	}
	for left := pods - nodes; left > 0; {
		n := r.IntN(nodes)
		if r.IntN(10) < weight[n] && out[n] < 15 && (n > 0 || out[n] < 7) {
			out[n]++
			left--
		}
	}
	return out
}

// The pods of the nodes need seven of the large ones. The seventh stays, instead of one like it that is bought, also where another node
// that goes wastes less.
func TestANodeIsKeptInsteadOfOneLikeIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more string
		gone int
	}{
		"20 like nodes":            {"", 13},
		"a smaller one among them": {"node small type=c7\npods small x5 cpu=1 on=small\n", 14},
		"a fuller one among them":  {"node small type=c7\npods small x6 cpu=1 on=small\n", 13},
		"two smaller ones":         {"node s1 type=c7\npods s1 x2 cpu=1 on=s1\nnode s2 type=c7\npods s2 x3 cpu=1 on=s2\n", 15},
	} {
		text := "consolidate\ntype c15 cpu=15 mem=64Gi price=0.60\ntype c7 cpu=7 mem=32Gi price=0.30\n" + c.more
		for n := range 20 {
			text += fmt.Sprintf("node n%02d type=c15\npods web%02d x5 cpu=1 on=n%02d\n", n, n, n)
		}
		ds := decide.Decide(parseScenario(t, text), decide.Budget{Disrupt: true}).Plan.Disruptions
		if len(ds) != 1 || len(ds[0].Nodes) != c.gone || len(ds[0].Replacements) > 0 {
			t.Errorf("%s: want one disruption of %d nodes that buys none", name, c.gone)
			for _, d := range ds {
				t.Logf("%d nodes go, for %d pods are bought %d: saves %s", len(d.Nodes), len(d.Evict), len(d.Replacements), d.Savings)
			}
		}
	}
}

// Pods of many sizes are on half-empty nodes of two pools. The groups in which they move share no node: one that goes takes no pods, and goes
// only once.
func TestGroupsShareNoNode(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 2))
		var text strings.Builder
		text.WriteString("consolidate\npool web\npool default\n")
		for _, cpus := range []int{2, 4, 8, 16} {
			fmt.Fprintf(&text, "type c%d cpu=%d mem=%dGi price=%.4f\ntype m%d cpu=%d mem=%dGi price=%.4f\n", cpus, cpus, 2*cpus, float64(cpus)*0.0383, cpus, cpus, 4*cpus, float64(cpus)*0.0430)
		}
		for n := range 190 {
			fmt.Fprintf(&text, "node n%03d type=%s16 pool=%s\n", n, []string{"c", "m"}[r.IntN(2)], []string{"web", "default"}[r.IntN(10)/9])
			for p := range 2 + r.IntN(4) {
				fmt.Fprintf(&text, "pods web%03d-%d cpu=%dm mem=%dMi on=n%03d\n", n, p, []int{100, 250, 500, 1000, 2000, 4000}[r.IntN(6)], 128<<r.IntN(7), n)
			}
		}
		gone, takes := map[string]bool{}, map[string]bool{}
		for _, d := range decide.Decide(parseScenario(t, text.String()), decide.Budget{Disrupt: true}).Plan.Disruptions {
			for _, n := range d.Nodes {
				if gone[n.Node] {
					t.Errorf("draw %d: %s goes twice", seed, n.Node)
				}
				gone[n.Node] = true
			}
			for _, m := range d.Moves {
				takes[m.Node] = true
			}
		}
		for node := range takes {
			if gone[node] {
				t.Errorf("draw %d: %s takes pods, and goes", seed, node)
			}
		}
		if len(gone) < 100 {
			t.Errorf("draw %d: %d of 190 nodes go", seed, len(gone))
		}
	}
}
