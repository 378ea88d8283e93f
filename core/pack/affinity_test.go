package pack

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/snapshot"
)

// near makes pods need one of some apps on their node.
func near(apps ...string) func(*snapshot.Template) {
	return func(t *snapshot.Template) {
		t.Affinity = append(t.Affinity, snapshot.AffinityTerm{
			Key: feasible.HostnameKey, Namespaces: []string{"default"},
			Selector: model.Selector{Expressions: []model.Expression{{Key: "app", Operator: "In", Values: apps}}},
		})
	}
}

// TestRingsShareANode packs rings of two to six shapes, each of which needs the next, with varying
// counts and in any order. Where one shape may be first, its whole ring is on one node; where none
// may, no pod is placed.
func TestRingsShareANode(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		d := rand.New(rand.NewPCG(seed, 1))
		n, total := 2+d.IntN(5), 0
		first := d.IntN(n+1) - 1
		names := d.Perm(n) // names of the shapes, in the order in which they are listed
		c := selling(1, 2, 4, 8)
		for i, at := range names {
			next := 0
			for j, other := range names {
				if other == (at+1)%n {
					next = j
				}
			}
			needs := []string{"app-" + strconv.Itoa(next)}
			if at == first {
				needs = append(needs, "app-"+strconv.Itoa(i))
			}
			count := 1 + d.IntN(3)
			total += count
			c.pods(count, 100+100*d.Int64N(4), 256, near(needs...))
		}
		r, left := c.packed(Guided, 2_000_000)
		if first < 0 && (left != total || len(r.New) > 0) {
			t.Fatalf("seed %d: %d of %d pods are left of a ring in which none can be first", seed, left, total)
		}
		if first >= 0 && (left > 0 || len(r.New) != 1) {
			t.Fatalf("seed %d: %d of %d pods are left, on %d nodes, of a ring in which one can be first", seed, left, total, len(r.New))
		}
	}
}
