package bound

import (
	"math/rand"
	"reflect"
	"testing"
)

// The worth of a bin in the table is never below the best filling that a search finds.
func TestTableIsNeverBelowAFilling(t *testing.T) {
	t.Parallel()
	looked := 0
	for seed := range int64(400) {
		p := smallProblem(seed)
		for i := range p.Items {
			p.Items[i].Count *= 5
		}
		in := shrink(p)
		g := newGenerator(in, Budget{})
		g.centre = g.linearPrices(g.solveRates())
		y := make([]float64, len(in.items))
		r := rand.New(rand.NewSource(seed))
		for i := range y {
			y[i] = float64(r.Intn(3)) * r.Float64() * 1000
		}
		for k := range g.views {
			for d := range g.views[k].rate {
				g.views[k].rate[d] = r.Float64()
			}
		}
		tab := newTable(g, mostCells)
		if tab == nil {
			continue
		}
		tab.fill(y)
		g.branch.y = y
		for k := range g.views {
			if !tab.covers(&g.views[k]) {
				continue
			}
			looked++
			worth, last := tab.worth(&g.views[k])
			g.branch.search(&g.views[k], 0, 100_000, nil)
			if worth < g.branch.value*(1-1e-9) {
				t.Fatalf("seed %d, bin %d: at most %g, but %v is worth %g", seed, k, worth, g.branch.best, g.branch.value)
			}
			total := 0.0
			c := tab.column(k, &g.views[k], last)
			for j, i := range c.items {
				total += c.counts[j] * y[i]
			}
			if total > worth*(1+1e-9) {
				t.Fatalf("seed %d, bin %d: the filling is worth %g, more than %g", seed, k, total, worth)
			}
		}
	}
	if looked < 200 {
		t.Errorf("%d bins looked at, want more", looked)
	}
}

// Where caps force nodes, sharpening proves what searches cannot, and does not change prices and
// patterns.
func TestSharpeningRaisesTheBoundOnly(t *testing.T) {
	t.Parallel()
	p := Problem{Bins: fakeTypes(400), Groups: []int64{1}}
	for _, cpu := range []int64{100, 250, 500, 1000, 1500} {
		for _, memory := range []int64{100, 256, 512, 1024, 2048, 4096} {
			p.Items = append(p.Items,
				Item{Need: []int64{cpu, memory * mib, 1}, Count: 50, Bins: everywhere(400)},
				Item{Need: []int64{cpu, memory * mib, 1}, Count: 13, Bins: everywhere(400), Groups: []int32{0}})
		}
	}
	blunt, sharp := Solve(p, Budget{Steps: 30_000_000}), Solve(p, Budget{Steps: 30_000_000})
	if steps := sharp.Sharpen(150_000_000); steps == 0 || steps > 180_000_000 {
		t.Errorf("%d steps spent, want 150 million", steps)
	}
	if float64(sharp.Bound) < 1.01*float64(blunt.Bound) {
		t.Errorf("bound %d, %d without: want one per cent more", sharp.Bound, blunt.Bound)
	}
	if sharp.Bound > sharp.Relaxed {
		t.Errorf("bound %d above the price of the patterns, %d", sharp.Bound, sharp.Relaxed)
	}
	checkPatterns(t, p, sharp)
	sharp.Bound, sharp.generator, blunt.generator = blunt.Bound, nil, nil
	if !reflect.DeepEqual(sharp, blunt) {
		t.Error("prices or patterns are others than without")
	}
}

// A bound that was sharpened by force is still below the optimum.
func TestSharpBoundNeverExceedsOptimum(t *testing.T) {
	t.Parallel()
	sharpened := 0
	for seed := range int64(1500) {
		p := smallProblem(seed)
		want, ok := Exact(p, 20_000_000)
		if !ok {
			t.Fatalf("seed %d: no optimum of %+v", seed, p)
		}
		in := shrink(p)
		if len(in.items) == 0 {
			continue
		}
		g := newGenerator(in, Budget{Steps: 20_000})
		g.run()
		if g.master == nil || in.rows > 0 {
			continue
		}
		sharpened++
		g.proof *= 0.9 // so that there is a gap
		g.sharpen(10_000_000)
		if got := in.payable(g.proof); got > want {
			t.Fatalf("seed %d: bound %d above optimum %d of %+v", seed, got, want, p)
		}
	}
	if sharpened < 300 {
		t.Errorf("%d bounds sharpened, want more", sharpened)
	}
}
