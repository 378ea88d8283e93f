package bound

import (
	"cmp"
	"math"
	"slices"
)

// generator runs the column generation: the master proposes prices, pricing
// answers with fillings that are worth more than their bin, and every set of
// prices that has been tested against all bins proves a bound.
type generator struct {
	in     *instance
	budget int64
	views  []view
	relax  *relaxer
	branch *brancher
	master *master
	counts []float64
	margin float64

	centre []float64 // the prices behind the best bound, per item
	proof  float64
	nodes  int64
	fresh  []int // columns found in the present round
}

const (
	gapTolerance   = 5e-4 // stop when master and bound are so close
	worthTolerance = 1e-4 // a filling must be worth so much more than its bin
	firstNodes     = 200
	lastNodes      = 60_000
	smoothing      = 0.6
)

func newGenerator(in *instance, b Budget) *generator {
	g := &generator{in: in, budget: b.Steps, relax: newRelaxer(in), branch: newBrancher(in), nodes: firstNodes}
	for i := range in.items {
		g.counts = append(g.counts, float64(in.items[i].count))
	}
	for k := range in.bins {
		g.views = append(g.views, newView(in, &in.bins[k]))
	}
	g.margin = safety(len(in.items), in.dims)
	return g
}

func (g *generator) steps() int64 {
	n := g.in.steps + g.relax.steps + g.branch.steps
	if g.master != nil {
		n += g.master.steps
	}
	return n
}

func (g *generator) run() {
	rates := g.resourceRates()
	g.centre = g.linearPrices(rates)
	g.price(slices.Clone(g.centre), nil)
	g.startMaster(rates)
	keep := smoothing
	for g.steps() < g.budget && !g.closed() {
		y := g.mix(keep)
		g.price(y, g.master.y)
		switch {
		case g.improve():
			keep = smoothing
		case keep > 0.05:
			keep *= 0.4
			if keep < 0.05 {
				keep = 0
			}
		case g.nodes < lastNodes:
			g.nodes *= 6
		default:
			return
		}
	}
}

// closed says that master and bound have met.
func (g *generator) closed() bool {
	return g.master.total()-g.proof <= gapTolerance*g.proof
}

// mix returns prices between the best proven ones and the master's. Prices of
// the master alone jump from vertex to vertex; staying near the best known ones
// settles much sooner (Wentges' smoothing).
func (g *generator) mix(keep float64) []float64 {
	y := make([]float64, len(g.in.items))
	for i := range y {
		y[i] = keep*g.centre[i] + (1-keep)*max(0, g.master.y[i])
	}
	return y
}

// price tests the prices y against every bin, keeps the bound that they prove
// if it is the best so far, and collects the fillings that the master lacks.
func (g *generator) price(y, now []float64) {
	c := certificate{y: y, margin: g.margin, theta: 1}
	g.relax.y, g.branch.y = y, y
	for k := range g.views {
		c.add(&g.views[k], g.worth(k, now))
	}
	if proof := c.bound(g.counts); proof > g.proof || g.proof == 0 {
		g.proof = proof
		g.centre = c.scaled()
	}
}

// worth bounds the value of the best filling of view k.
func (g *generator) worth(k int, now []float64) float64 {
	v := &g.views[k]
	enough := v.price
	if now != nil && v.bin.row >= 0 {
		enough += max(0, -now[g.master.covers+int(v.bin.row)])
	}
	if v.bin.row >= 0 {
		enough *= 1 + worthTolerance
	}
	worth := g.relax.bound(v, v.price)
	if now == nil || worth <= enough {
		return worth
	}
	target := enough * (1 + worthTolerance)
	if g.branch.search(v, target, g.nodes, nil) {
		worth = min(worth, max(target, g.branch.value))
	}
	g.keep(k, now)
	return worth
}

// keep adds the filling just found to the pool if it is an improvement at the
// master's present prices.
func (g *generator) keep(k int, now []float64) {
	c := g.filling(k)
	if len(c.items) == 0 || g.master.reduced(&c, now) >= -1e-6*(c.price+1) {
		return
	}
	g.fresh = append(g.fresh, g.master.add(c))
}

func (g *generator) filling(k int) column {
	c := column{view: int32(k), price: g.views[k].price, row: g.views[k].bin.row}
	for j, n := range g.branch.best {
		if n > 0 {
			c.items = append(c.items, g.branch.order[j].item)
			c.counts = append(c.counts, float64(n))
		}
	}
	return c
}

// improve lets new columns, then old ones, into the basis while they help.
func (g *generator) improve() bool {
	m := g.master
	if len(g.fresh) == 0 {
		return false
	}
	g.enterAll(g.fresh)
	g.fresh = g.fresh[:0]
	for range 8 {
		if !g.enterAll(g.promising(24)) {
			break
		}
	}
	m.reprice()
	return true
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

// startMaster gives the master a feasible mix: each item alone in the bin that is
// cheapest for it, then a whole packing made by always filling the most tempting
// bin with what is left.
func (g *generator) startMaster(rates []float64) {
	dear := 0.0
	for k := range g.views {
		dear = max(dear, g.views[k].price)
	}
	g.master = newMaster(g.counts, g.in.stock, 2*dear+1)
	if g.budget <= g.steps() {
		return
	}
	g.enterAll(g.aloneColumns())
	g.enterAll(g.packAll(rates))
	g.master.reprice()
}

func (g *generator) aloneColumns() []int {
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
			best[i] = column{view: int32(k), items: []int32{i}, counts: []float64{float64(v.most[j])}, price: v.price, row: -1}
		}
	}
	var out []int
	for _, c := range best {
		if c.items != nil {
			out = append(out, g.master.add(c))
		}
	}
	return out
}

// packAll packs everything once, largest pods first.
func (g *generator) packAll(rates []float64) []int {
	y := g.centre
	g.branch.y, g.relax.y = y, y
	left := make([]int64, len(y))
	order := make([]int, len(y))
	for i := range left {
		left[i], order[i] = g.in.items[i].count, i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(y[b], y[a]) })
	tempting := g.tempting(rates)
	var out []int
	for _, i := range order {
		for left[i] > 0 {
			c := g.fillAround(i, left, tempting)
			if len(c.items) == 0 || !slices.Contains(c.items, int32(i)) {
				break
			}
			times := int64(math.MaxInt64)
			for k, j := range c.items {
				times = min(times, left[j]/int64(c.counts[k]))
			}
			for k, j := range c.items {
				left[j] -= times * int64(c.counts[k])
			}
			out = append(out, g.master.add(c))
		}
	}
	return out
}

// tempting orders the views by how much room, at the rates, they give for their price.
func (g *generator) tempting(rates []float64) []int {
	order := make([]int, len(g.views))
	offer := make([]float64, len(g.views))
	for k := range order {
		order[k] = k
		for d, r := range g.views[k].room {
			offer[k] += rates[d] * r
		}
		offer[k] /= g.views[k].price + 1
		copy(g.views[k].rate, rates)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(offer[b], offer[a]) })
	return order
}

// fillAround returns the best filling, for what is left, of the most tempting
// bins that item i may go to.
func (g *generator) fillAround(i int, left []int64, tempting []int) column {
	var best column
	ratio := -1.0
	tries := 0
	for _, k := range tempting {
		v := &g.views[k]
		if v.bin.stock >= 0 || v.bin.has[i/64]>>(i%64)&1 == 0 {
			continue
		}
		g.branch.search(v, 0, 60, left)
		if r := g.branch.value / v.price; r > ratio {
			best, ratio = g.filling(k), r
		}
		if tries++; tries == 2 {
			break
		}
	}
	return best
}
