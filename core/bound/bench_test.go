package bound

import (
	"testing"
)

type workload struct {
	name  string
	steps int64 // the effort that a plan may spend on it
	make  func(seed int64) Problem
}

func workloads() []workload {
	cloud := func(pods, shapes, types int) func(int64) Problem {
		return func(seed int64) Problem {
			bins := cloudTypes(types, seed)
			return Problem{Items: drawnPods(pods, shapes, len(bins), seed), Bins: bins}
		}
	}
	return []workload{
		{"120 items, 400 types", 50_000_000, cloud(10_000, 120, 400)},
		{"120 items, 400 fake types", 50_000_000, func(seed int64) Problem {
			return Problem{Items: drawnPods(10_000, 120, 400, seed), Bins: fakeTypes(400)}
		}},
		{"500 items, 1500 types", 400_000_000, cloud(100_000, 500, 1500)},
		{"30 items, 1500 types", 15_000_000, cloud(5_000, 30, 1500)},
		{"20 pods, 1500 types", 25_000_000, func(seed int64) Problem {
			return Problem{Items: drawnFew(20, 1500, seed), Bins: cloudTypes(1500, seed)}
		}},
		{"100 pods, 1500 types", 50_000_000, func(seed int64) Problem {
			return Problem{Items: drawnFew(100, 1500, seed), Bins: cloudTypes(1500, seed)}
		}},
		{"hostanti", 20_000_000, func(seed int64) Problem { return withOneHostCap(drawnPods(5_000, 30, 400, seed), fakeTypes(400)) }},
		{"diverse", 200_000_000, diverse},
	}
}

func withOneHostCap(items []Item, bins []Bin) Problem {
	for i := range items {
		items[i].Groups = []int32{0}
	}
	return Problem{Items: items, Bins: bins, Groups: []int64{1}}
}

// diverse draws half plain pods, a quarter in one group of which a bin may hold one, and a quarter
// in seven groups with a cap of one each.
func diverse(seed int64) Problem {
	bins := fakeTypes(400)
	p := Problem{Items: drawnPods(5_000, 30, 400, seed), Bins: bins, Groups: []int64{1, 1, 1, 1, 1, 1, 1, 1}}
	for _, it := range drawnPods(2_000, 30, 400, seed+1) {
		it.Groups = []int32{0}
		p.Items = append(p.Items, it)
	}
	for g := range int32(7) {
		for _, it := range drawnPods(300, 30, 400, seed+2+int64(g)) {
			it.Groups = []int32{1 + g}
			p.Items = append(p.Items, it)
		}
	}
	return p
}

func BenchmarkSolve(b *testing.B) {
	for _, w := range workloads() {
		b.Run(w.name, func(b *testing.B) {
			var gap, steps, bound float64
			for n := range b.N {
				b.StopTimer()
				p := w.make(int64(n))
				b.StartTimer()
				r := Solve(p, Budget{Steps: w.steps})
				gap += 100 * (float64(r.Relaxed)/float64(r.Bound) - 1)
				steps += float64(r.Steps)
				bound += float64(r.Bound)
			}
			b.ReportMetric(gap/float64(b.N), "gap%")
			b.ReportMetric(steps/float64(b.N)/1e6, "Msteps")
			b.ReportMetric(bound/float64(b.N)/1e6, "$")
		})
	}
}
