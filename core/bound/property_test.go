package bound

import (
	"fmt"
	"math"
	"math/rand"
	"reflect"
	"slices"
	"testing"
)

// smallProblem draws a problem that Exact can solve: a few pods, a few bins,
// groups, zones that hold only some items, and sometimes bins of limited stock.
// The first bin holds everything, so that every pod has a place.
func smallProblem(seed int64) Problem {
	r := rand.New(rand.NewSource(seed))
	dims := 1 + r.Intn(3)
	p := Problem{Bins: make([]Bin, 2+r.Intn(6))}
	for range r.Intn(3) {
		p.Groups = append(p.Groups, 1+r.Int63n(2))
	}
	for b := range p.Bins {
		room := make([]int64, dims)
		for d := range room {
			room[d] = 4 + r.Int63n(40)
		}
		p.Bins[b] = Bin{Room: room, Price: 1000 + r.Int63n(100_000), Stock: -1}
		if b > 0 && r.Intn(3) == 0 {
			p.Bins[b].Stock = r.Int63n(3)
			p.Bins[b].Price *= r.Int63n(2)
		}
	}
	for d := range p.Bins[0].Room {
		p.Bins[0].Room[d] = 20 + r.Int63n(40)
	}
	pods := 2 + r.Int63n(8)
	for pods > 0 {
		it := Item{Count: 1 + r.Int63n(min(3, pods)), Bins: []uint64{1 | r.Uint64()}}
		pods -= it.Count
		for range dims {
			it.Need = append(it.Need, r.Int63n(20))
		}
		for g := range p.Groups {
			if r.Intn(3) == 0 {
				it.Groups = append(it.Groups, int32(g))
			}
		}
		p.Items = append(p.Items, it)
	}
	return p
}

func clone(p Problem) Problem {
	out := Problem{Groups: slices.Clone(p.Groups)}
	for _, it := range p.Items {
		it.Need, it.Groups, it.Bins = slices.Clone(it.Need), slices.Clone(it.Groups), slices.Clone(it.Bins)
		out.Items = append(out.Items, it)
	}
	for _, b := range p.Bins {
		b.Room = slices.Clone(b.Room)
		out.Bins = append(out.Bins, b)
	}
	return out
}

const (
	plenty = 300_000_000
	// relaxedOnly is too little effort to solve tiny problems outright, and plenty to relax them.
	relaxedOnly = 10*tinyNodes - 1
)

func TestBoundNeverExceedsOptimum(t *testing.T) {
	t.Parallel()
	tight, solved := 0, 0
	for seed := range int64(1500) {
		p := smallProblem(seed)
		want, ok := Exact(p, 20_000_000)
		if !ok {
			t.Fatalf("seed %d: no optimum of %+v", seed, p)
		}
		for _, steps := range []int64{0, 20_000, relaxedOnly, plenty} {
			r := Solve(p, Budget{Steps: steps})
			if steps == plenty && r.Bound != want {
				t.Fatalf("seed %d: bound %d, want the optimum %d of %+v", seed, r.Bound, want, p)
			}
			if r.Bound > want {
				t.Fatalf("seed %d, %d steps: bound %d above optimum %d of %+v", seed, steps, r.Bound, want, p)
			}
			if steps == relaxedOnly && float64(r.Bound) > 0.97*float64(want) {
				tight++
			}
		}
		solved++
	}
	if tight*2 < solved {
		t.Errorf("bound within 3%% of the optimum in %d of %d cases, want half", tight, solved)
	}
}

func TestMoreStepsNeverLowerTheBound(t *testing.T) {
	t.Parallel()
	problems := map[string]Problem{"diverse": diverse(3)}
	for seed := range int64(60) {
		problems[fmt.Sprint("small ", seed)] = smallProblem(seed)
	}
	for name, p := range problems {
		last := int64(-1)
		for steps := int64(0); steps < 60_000_000; steps = steps*5 + 1000 {
			r := Solve(p, Budget{Steps: steps})
			if r.Bound < last {
				t.Errorf("%s: bound %d after %d steps, was %d", name, r.Bound, steps, last)
			}
			last = r.Bound
		}
	}
}

func TestSolveIsPure(t *testing.T) {
	t.Parallel()
	for seed := range int64(100) {
		p := smallProblem(seed)
		kept := clone(p)
		one, two := Solve(p, Budget{Steps: plenty}), Solve(p, Budget{Steps: plenty})
		if !reflect.DeepEqual(one, two) {
			t.Errorf("seed %d: two answers: %+v and %+v", seed, one, two)
		}
		if !reflect.DeepEqual(p, kept) {
			t.Errorf("seed %d: the problem was changed", seed)
		}
	}
}

// checkPatterns verifies that every pattern is possible and that together they
// cover all pods within the stocks.
func checkPatterns(t *testing.T, p Problem, r Result) {
	t.Helper()
	covered := make([]float64, len(p.Items))
	used := make([]float64, len(p.Bins))
	for _, pat := range r.Patterns {
		used[pat.Bin] += pat.Amount
		checkPattern(t, p, pat)
		for _, c := range pat.Counts {
			covered[c.Item] += float64(c.Count) * pat.Amount
		}
	}
	for i, it := range p.Items {
		if slices.Contains(r.Unfit, int32(i)) {
			continue
		}
		if n := float64(it.Count); r.Uncovered < 1e-3 && covered[i] < n*(1-1e-5)-1e-5 {
			t.Errorf("item %d: %g of %g pods covered", i, covered[i], n)
		}
	}
	for b, x := range p.Bins {
		if x.Stock >= 0 && used[b] > float64(x.Stock)*(1+1e-6)+1e-6 {
			t.Errorf("bin %d: %g used of a stock of %d", b, used[b], x.Stock)
		}
	}
}

func checkPattern(t *testing.T, p Problem, pat Pattern) {
	t.Helper()
	room := slices.Clone(p.Bins[pat.Bin].Room)
	caps := slices.Clone(p.Groups)
	for _, c := range pat.Counts {
		it := p.Items[c.Item]
		if c.Count < 1 || c.Count > it.Count {
			t.Errorf("pattern %+v: %d pods of item %d, which has %d", pat, c.Count, c.Item, it.Count)
		}
		if it.Bins[pat.Bin/64]>>(pat.Bin%64)&1 == 0 {
			t.Errorf("pattern %+v: item %d may not go to bin %d", pat, c.Item, pat.Bin)
		}
		for d, n := range it.Need {
			room[d] -= n * c.Count
		}
		for _, g := range it.Groups {
			caps[g] -= c.Count
		}
	}
	if slices.Min(room) < 0 || len(caps) > 0 && slices.Min(caps) < 0 {
		t.Errorf("pattern %+v overfills its bin: left %v, caps %v", pat, room, caps)
	}
}

func TestPatternsAreAFleet(t *testing.T) {
	t.Parallel()
	for seed := range int64(300) {
		p := smallProblem(seed)
		checkPatterns(t, p, Solve(p, Budget{Steps: relaxedOnly}))
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, p)
		}
	}
	for _, w := range workloads() {
		if w.name != "500 items, 1500 types" {
			p := w.make(1)
			checkPatterns(t, p, Solve(p, Budget{Steps: 10_000_000}))
		}
	}
}

// resourceBound returns what all room would cost at the cheapest rate of one dimension.
func resourceBound(p Problem) float64 {
	best := 0.0
	for d := range p.Bins[0].Room {
		need, rate := 0.0, math.Inf(1)
		for _, it := range p.Items {
			need += float64(it.Need[d] * it.Count)
		}
		for _, b := range p.Bins {
			rate = min(rate, float64(b.Price)/float64(b.Room[d]))
		}
		best = max(best, need*rate)
	}
	return best
}

func TestBoundIsAtLeastTheResources(t *testing.T) {
	t.Parallel()
	for seed := range int64(400) {
		p := smallProblem(seed)
		for b := range p.Bins {
			p.Bins[b].Stock = -1
			p.Bins[b].Price = max(p.Bins[b].Price, 1)
		}
		r := Solve(p, Budget{})
		if float64(r.Bound) < resourceBound(p)*(1-1e-6)-1 {
			t.Errorf("seed %d: bound %d below the resources' %g", seed, r.Bound, resourceBound(p))
		}
	}
}
