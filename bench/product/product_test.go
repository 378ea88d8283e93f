package product

import (
	"fmt"
	"testing"

	"tenon/bench/corpus"
	"tenon/core/catalog"
	"tenon/core/check"
	"tenon/core/decide"
)

func TestPlansAreValid(t *testing.T) {
	t.Parallel()
	fake, kwok := corpus.Fake(60), corpus.KWOK()
	cases := map[string]corpus.Case{
		"onto nodes": corpus.Onto(60, 20),
		"shapes":     corpus.Shapes(30),
	}
	for name, types := range map[string]*catalog.Catalog{"fake": fake, "KWOK": kwok} {
		for _, mix := range []string{corpus.Generic, corpus.ZoneSpread, corpus.HostSpread, corpus.ZoneAffinity, corpus.HostAnti, corpus.Diverse, corpus.Preferring} {
			cases[mix+" on "+name] = corpus.Mix(mix, 15, types)
		}
	}
	for _, workload := range corpus.Skews() {
		for _, basic := range []bool{false, true} {
			cases[fmt.Sprintf("%s, basic %v", workload, basic)] = corpus.Skew(workload, 12, basic)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := Run(c)
			if err := r.Complete(c); err != nil {
				t.Fatal(err)
			}
			if len(r.Plan.Unplaced) > 0 {
				t.Fatalf("%d pods are unplaced: %v", len(r.Plan.Unplaced), r.Plan.Unplaced[0].Verdict)
			}
			for _, v := range check.Plan(r.Snapshot, &r.Plan) {
				if !v.Rule.IsAdvice() {
					t.Errorf("%v", v)
				}
			}
		})
	}
}

func TestStreamDecidesTheSame(t *testing.T) {
	t.Parallel()
	whole := Run(corpus.Shapes(500))
	stream := Stream(corpus.Shapes(0), corpus.ShapedPods(500))
	if whole.Plan.Cost != stream.Plan.Cost || len(whole.Plan.Claims) != len(stream.Plan.Claims) {
		t.Errorf("one by one: %v with %d nodes, at once: %v with %d nodes",
			stream.Plan.Cost, len(stream.Plan.Claims), whole.Plan.Cost, len(whole.Plan.Claims))
	}
}

// Very many pods of hundreds of sizes cost not much more than is proven, although all that EC2 sells has too many patterns for the effort.
func TestHundredsOfSizes(t *testing.T) {
	t.Parallel()
	cost := Run(corpus.Shapes(20_000)).Plan.Cost
	if over := cost.New.Float() / cost.LowerBound.Float(); over > 1.25 {
		t.Errorf("the nodes cost %s, proven to cost %s: %.3f of it", cost.New, cost.LowerBound, over)
	}
}

// BenchmarkDecide decides on the corpus, on a new snapshot in every iteration. It does not count
// the time to read the API objects; BenchmarkIngest counts only that.
func BenchmarkDecide(b *testing.B) {
	for _, c := range benchmarks() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			price, bound, steps := 0.0, 0.0, int64(0)
			for range b.N {
				b.StopTimer()
				s := Snapshot(c.fresh())
				b.StartTimer()
				p := decide.Decide(s, decide.Budget{}).Plan
				price, bound, steps = p.Cost.New.Float(), p.Cost.LowerBound.Float(), p.Solve.Steps
			}
			b.ReportMetric(float64(steps)/1e6, "Msteps")
			b.ReportMetric(price, "$/h")
			if bound > 0 {
				b.ReportMetric(price/bound, "price/bound")
			}
		})
	}
}

func BenchmarkIngest(b *testing.B) {
	for _, c := range benchmarks() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.StopTimer()
				objects := c.fresh()
				b.StartTimer()
				Snapshot(objects)
			}
		})
	}
}

type benchmark struct {
	name  string
	fresh func() corpus.Case
}

func benchmarks() []benchmark {
	var out []benchmark
	for _, n := range []int{50, 1000, 10_000, 20_000} {
		out = append(out, benchmark{fmt.Sprintf("diverse/%d", n), func() corpus.Case { return corpus.Mix(corpus.Diverse, n, corpus.Fake(400)) }})
	}
	for _, n := range []int{1000, 10_000} {
		for _, workload := range corpus.Skews() {
			out = append(out,
				benchmark{fmt.Sprintf("ec2/%s/%d", workload, n), func() corpus.Case { return corpus.Skew(workload, n, false) }},
				benchmark{fmt.Sprintf("basic/%s/%d", workload, n), func() corpus.Case { return corpus.Skew(workload, n, true) }})
		}
	}
	return append(out,
		benchmark{"shapes/100000", func() corpus.Case { return corpus.Shapes(100_000) }},
		benchmark{"grid/20000", func() corpus.Case { return corpus.Grid(20_000) }},
		benchmark{"grid/100000", func() corpus.Case { return corpus.Grid(100_000) }},
		benchmark{"starved", func() corpus.Case { return corpus.Starved(false) }},
		benchmark{"starved/spread", func() corpus.Case { return corpus.Starved(true) }},
		benchmark{"onto/10000x2000", func() corpus.Case { return corpus.Onto(10_000, 2000) }})
}
