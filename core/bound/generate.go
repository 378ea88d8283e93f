package bound

import (
	"cmp"
	"math"
	"slices"
)

// generator runs the column generation: the master proposes prices, pricing answers with fillings
// that are worth more than their bin, and every set of prices that was tested against all bins
// proves a bound.
type generator struct {
	in     *instance
	budget int64
	views  []view
	relax  *relaxer
	branch *brancher
	master *master
	counts []float64
	margin float64

	centre  []float64 // the prices behind the best bound, per item
	proof   float64
	optimum int64 // of a tiny problem, else 0
	nodes   int64
	fresh   []int     // columns found in the present round
	worth   []float64 // per view: bound on the value of a filling at the prices tested
	enough  []float64 // per view: a filling worth no more is of no interest
	depth   []int     // per view: how closely it was looked at
	pool    []column  // kept between masters
	level   level
	width   float64 // of the price range
	table   *table  // while sharpening
}

const (
	worthTolerance = 1e-4 // a filling must be worth so much more than its bin
	firstNodes     = 200
	smoothing      = 0.3
	patience       = 4 // rounds without much progress before something is changed
	narrowRange    = 0.1
	middleRange    = 0.3 // with more items than severalItems
	severalItems   = 200
	wideRange      = 0.4
	lastWidth      = 1.0
	maxFresh       = 24 // new columns a round
	maxMisses      = 16 // fruitless searches a round, if others were not

	// With more items than manyItems the master's inverse takes longer than all else, and a pattern of a few
	// pods each out of thousands of sizes says little. Pods of so many sizes fill each other's gaps, so that
	// prices by what they use up are nearly the best: 100,000 pods of 16,460 sizes prove the same bound with
	// a row for each and in a fiftieth of the time.
	manyItems    = 1000
	nearlyLinear = 0.97 // the part of linear prices that is proven, from where on they are not improved
)

func newGenerator(in *instance, b Budget) *generator {
	g := &generator{in: in, budget: b.Steps, relax: newRelaxer(in), branch: newBrancher(in), nodes: firstNodes}
	for i := range in.items {
		g.counts = append(g.counts, float64(in.items[i].count))
	}
	for k := range in.bins {
		g.views = append(g.views, newView(in, &in.bins[k]))
	}
	g.worth, g.enough, g.depth = make([]float64, len(g.views)), make([]float64, len(g.views)), make([]int, len(g.views))
	g.margin = safety(len(in.items), in.dims)
	return g
}

func (g *generator) steps() int64 {
	n := g.in.steps + g.relax.steps + g.branch.steps + g.branch.knapsack.steps
	if g.master != nil {
		n += g.master.steps
	}
	if g.table != nil {
		n += g.table.steps
	}
	return n
}

func (g *generator) run() {
	r := g.solveRates()
	g.centre = g.linearPrices(r)
	asked := g.total(g.centre)
	g.price(slices.Clone(g.centre), nil)
	if g.steps() >= g.budget {
		return
	}
	if g.many() {
		if g.in.rows > 0 || g.proof < float64(asked*nearlyLinear) {
			g.coarse()
		}
		return
	}
	g.optimum = g.solveTiny()
	g.pool = append(g.aloneColumns(), newPacking(g, r).all()...)
	for _, l := range g.levels() {
		if g.steps() < g.budget {
			g.enterLevel(l)
			g.generate()
		}
	}
	g.finish()
}

// many reports whether there are too many items for a row of the master each. Then only rows that join items
// are used, and there are no patterns.
func (g *generator) many() bool { return len(g.in.items) > manyItems }

// coarse finds better prices than linear ones for many items.
func (g *generator) coarse() {
	g.pool = g.aloneColumns()
	for _, l := range g.levels() {
		if l.rows < len(g.in.items) && g.steps() < g.budget {
			g.enterLevel(l)
			g.generate()
		}
	}
}

// total is the price of all pods.
func (g *generator) total(y []float64) float64 {
	sum := 0.0
	for i, each := range y {
		sum += float64(each * g.counts[i])
	}
	return sum
}

// generate runs rounds at the present level until master and bound have met, or
// pricing finds nothing that helps.
func (g *generator) generate() {
	keep, idle := smoothing, 0
	for g.steps() < g.budget {
		if g.closed() && !g.widen() {
			return
		}
		g.recentre()
		before := g.gap()
		g.price(g.mix(keep), g.master.y)
		found := g.improve()
		if idle++; before-g.gap() > 0.02*math.Abs(before) {
			idle = 0
		}
		switch {
		case found && idle < patience:
			keep = smoothing
		case keep > 0:
			keep = lower(keep)
		case g.nodes < g.level.nodes:
			g.nodes *= 6
			idle = 0
		case g.widen():
			idle = 0
		case !found || idle >= 4*patience:
			return
		}
	}
}

func lower(keep float64) float64 {
	if keep < 0.1 {
		return 0
	}
	return float64(keep * 0.4)
}

// closed reports whether master and bound have met. If bins share rows of stock, the master may be cheaper
// than any provable price; then the comparison says nothing.
func (g *generator) closed() bool {
	if g.in.shared {
		return g.master.total() < 1
	}
	return g.gap() <= g.level.tolerance
}

// widen opens the price range further. It reports false if the price range was fully open already.
func (g *generator) widen() bool {
	switch {
	case g.width > lastWidth:
		return false
	case g.width*4 > lastWidth:
		g.openCorridor()
	default:
		g.width = float64(g.width * 4)
	}
	return true
}

// gap returns how far master and bound are apart, as a share of the bound.
func (g *generator) gap() float64 {
	return (g.master.total() - g.proof) / max(g.proof, 1e-9)
}

// aim returns by how much a filling should be worth more than its bin. If there is no such
// filling, the gap shrinks to aim. A much smaller aim would waste effort on fillings that hardly
// matter.
func (g *generator) aim() float64 {
	return min(0.01, max(worthTolerance, g.gap()/3))
}

func (g *generator) openCorridor() {
	g.width = 2 * lastWidth
	g.master.open()
	g.master.reprice()
	g.reuse()
}

// recentre moves the price range to the best known prices.
func (g *generator) recentre() {
	if g.width <= lastWidth {
		g.master.limitPrices(g.level.rowPrices(g.centre), g.width)
		g.reuse()
	}
}

// mix returns prices between the best proven ones and the master's. Prices of
// the master alone jump from vertex to vertex; staying near the best known ones
// settles much sooner (Wentges' smoothing).
func (g *generator) mix(keep float64) []float64 {
	y := make([]float64, len(g.in.items))
	for i := range y {
		y[i] = float64(keep*g.centre[i]) + float64((1-keep)*max(0, g.master.y[g.level.row[i]])*g.level.weight[i])
	}
	return y
}

// improve moves new columns, then old ones, into the basis while they help.
func (g *generator) improve() bool {
	m := g.master
	if len(g.fresh) == 0 {
		return false
	}
	g.enterAll(g.fresh)
	g.fresh = g.fresh[:0]
	g.reuse()
	m.reprice()
	return true
}

// reuse moves columns of the pool into the basis while they help.
func (g *generator) reuse() {
	g.master.settle()
	for range 100 {
		if !g.enterAll(g.promising(24)) {
			return
		}
	}
}

func (g *generator) enterAll(columns []int) bool {
	any := false
	for _, c := range columns {
		if g.master.enter(c) {
			any = true
		}
	}
	g.master.settle()
	return any
}

// promising returns the pool's columns with the best savings at the present prices.
func (g *generator) promising(limit int) []int {
	m := g.master
	type saving struct {
		share float64
		at    int
	}
	var all []saving
	for k := range m.pool {
		if m.in[k] {
			continue
		}
		c := &m.pool[k]
		m.steps += int64(len(c.items) + 4)
		if r := m.reduced(c, m.y) / (c.price + 1); r < -1e-6 {
			all = append(all, saving{r, k})
		}
	}
	slices.SortFunc(all, func(a, b saving) int {
		return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.at, b.at))
	})
	out := make([]int, 0, limit)
	for _, s := range all[:min(limit, len(all))] {
		out = append(out, s.at)
	}
	return out
}

// aloneColumns returns, for each item, the bin that is cheapest for it alone, full.
func (g *generator) aloneColumns() []column {
	best := make([]column, len(g.in.items))
	share := make([]float64, len(best))
	for k := range g.views {
		v := &g.views[k]
		for j, i := range v.items {
			each := v.price / float64(v.most[j])
			if v.bin.stock >= 0 || best[i].items != nil && each >= share[i] {
				continue
			}
			share[i] = each
			best[i] = column{view: int32(k), items: []int32{i}, counts: []float64{float64(v.most[j])}, price: v.price}
		}
	}
	return slices.DeleteFunc(best, func(c column) bool { return c.items == nil })
}
