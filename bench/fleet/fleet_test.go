package fleet

import (
	"fmt"
	"testing"
	"time"

	"tenon/bench/corpus"
	"tenon/core/check"
	"tenon/core/decide"
)

// BenchmarkEvaluate looks once at every node of clusters with many teams, under the usual
// budgets of a tenth.
func BenchmarkEvaluate(b *testing.B) {
	for _, size := range [][3]int{{700, 20, 10_000}, {2000, 60, 60_000}} {
		s := Of(corpus.Half(size[0], size[1], size[2]))
		b.Run(fmt.Sprintf("%d nodes %d pools %d pods", size[0], size[1], len(s.Pods)), func(b *testing.B) {
			for b.Loop() {
				decision := decide.Decide(s, decide.Budget{Disrupt: true})
				if decision.Coverage.Skipped > 0 {
					b.Fatalf("%d nodes were not looked at", decision.Coverage.Skipped)
				}
			}
		})
	}
}

// A cluster of teams settles within a few rounds, and every plan on the way holds.
func TestHalfUsedClustersSettle(t *testing.T) {
	t.Parallel()
	s := Of(corpus.Half(40, 4, 400))
	p := decide.Decide(s, decide.Budget{Disrupt: true}).Plan
	for _, v := range check.Plan(s, &p) {
		t.Error(v)
	}
	rounds, _, end := Settle(s, 10*time.Minute, 60)
	if last := rounds[len(rounds)-1]; last.Disruptions > 0 {
		t.Errorf("%d disruptions after %d rounds still", last.Disruptions, len(rounds))
	}
	if n := Watch(end, 24); n > 0 {
		t.Errorf("%d evictions in the day after", n)
	}
}
