package bound

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
)

// level says how finely the master tells items apart. Its rows are clusters of items that resemble
// each other; within a cluster, prices move together, in the proportions that they had when the
// generator entered the level. With few rows the prices settle within a few rounds, and all that
// is proven stays proven: fewer rows only limit which prices are tried. The last level has a row
// per item.
type level struct {
	row       []int32
	weight    []float64
	rows      int
	width     float64 // of the price range at first
	tolerance float64 // stop when master and bound are so close
	nodes     int64   // how hard to search for fillings at the end
}

// levels returns ever finer levels, each with several times the rows of the one before. Where there are many items, few rows say too little of
// them, and prices are far from the best ones at first.
func (g *generator) levels() []level {
	var out []level
	n := len(g.in.items)
	sizes, width := []int{40, 160}, narrowRange
	if n > severalItems {
		sizes, width = []int{160}, middleRange
	}
	rows := 0
	for _, most := range sizes {
		for fine := 8.0; fine >= 0.25; fine /= 1.5 {
			l := g.cluster(fine, width)
			if l.rows <= most && l.rows > rows && 2*l.rows < n {
				out = append(out, l)
				rows = l.rows
				break
			}
		}
	}
	return append(out, g.finest())
}

func (g *generator) finest() level {
	l := level{row: make([]int32, len(g.in.items)), rows: len(g.in.items), width: wideRange, tolerance: 5e-4, nodes: 40_000}
	for i := range l.row {
		l.row[i] = int32(i)
	}
	return l
}

// cluster joins items of the same group and the same set of bins if their needs have about the
// same proportions; fine is the resolution, and width that of the price range.
func (g *generator) cluster(fine, width float64) level {
	l := level{row: make([]int32, len(g.in.items)), width: width, tolerance: 1e-3, nodes: firstNodes}
	top := make([]float64, g.in.dims)
	for k := range g.views {
		for d, r := range g.views[k].room {
			top[d] = max(top[d], r)
		}
	}
	known := map[string]int32{}
	for i := range g.in.items {
		key := string(g.likeness(i, top, fine))
		row, ok := known[key]
		if !ok {
			row = int32(len(known))
			known[key] = row
		}
		l.row[i] = row
	}
	l.rows = len(known)
	return l
}

func (g *generator) likeness(i int, top []float64, fine float64) []byte {
	it := &g.in.items[i]
	key := binary.LittleEndian.AppendUint64(nil, uint64(it.set)<<32|uint64(uint32(it.group+1)))
	whole := 0.0
	for d, t := range top {
		whole = max(whole, g.in.need[d][i]/max(t, 1))
	}
	for d, t := range top {
		part := g.in.need[d][i] / max(t, 1) / max(whole, 1e-300)
		key = binary.LittleEndian.AppendUint64(key, uint64(int64(math.Round(float64(fine*log2(part+1.0/64))))))
	}
	return key
}

// enterLevel builds a master with the level's rows out of the pool of columns.
func (g *generator) enterLevel(l level) {
	g.level = l
	g.weigh()
	counts := make([]float64, l.rows)
	for i, row := range l.row {
		counts[row] += float64(g.level.weight[i] * g.counts[i])
	}
	g.saveColumns()
	spent, dear := int64(0), 0.0
	if g.master != nil {
		spent = g.master.steps
	}
	for k := range g.views {
		dear = max(dear, g.views[k].price)
	}
	g.master = newMaster(counts, g.in.stock, float64(2*dear)+1)
	g.master.steps = spent
	for _, c := range g.pool {
		g.sum(&c)
		g.master.add(c)
	}
	g.pool = nil
	g.nodes = firstNodes
	g.width = l.width
	g.recentre()
}

// weigh sets the proportions of prices within each row: those of the centre,
// scaled so that a row counts as many units as it has pods.
func (g *generator) weigh() {
	l := &g.level
	l.weight = make([]float64, len(l.row))
	pods, value := make([]float64, l.rows), make([]float64, l.rows)
	for i, row := range l.row {
		pods[row] += g.counts[i]
		value[row] += float64(g.counts[i] * g.centre[i])
	}
	for i, row := range l.row {
		l.weight[i] = 1
		if value[row] > 0 && l.rows < len(l.row) {
			l.weight[i] = g.centre[i] * pods[row] / value[row]
		}
	}
}

// rowPrices translates prices of items to those of rows.
func (l *level) rowPrices(y []float64) []float64 {
	out := make([]float64, l.rows)
	for i, row := range l.row {
		if l.weight[i] > 0 {
			out[row] = max(out[row], y[i]/l.weight[i])
		}
	}
	return out
}

// saveColumns keeps the pool of the master that is about to be replaced. It puts the most recently
// used columns first, and keeps no more than some multiple of the rows.
func (g *generator) saveColumns() {
	if g.master != nil {
		g.pool = g.master.pool
	}
}

// sum fills in how much of each row the column covers.
func (g *generator) sum(c *column) {
	type part struct {
		row  int32
		coef float64
	}
	parts := make([]part, len(c.items), len(c.items)+1)
	for k, i := range c.items {
		parts[k] = part{g.level.row[i], float64(g.level.weight[i] * c.counts[k])}
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.row, b.row) })
	if row := g.views[c.view].bin.row; row >= 0 {
		parts = append(parts, part{int32(g.level.rows) + row, 1})
	}
	c.rows, c.coefs = make([]int32, 0, len(parts)), make([]float64, 0, len(parts))
	for _, p := range parts {
		if n := len(c.rows); n > 0 && c.rows[n-1] == p.row {
			c.coefs[n-1] += p.coef
			continue
		}
		c.rows, c.coefs = append(c.rows, p.row), append(c.coefs, p.coef)
	}
}

// finish leaves a master in which the patterns cover every item.
func (g *generator) finish() {
	if g.level.rows != len(g.in.items) {
		g.enterLevel(g.finest())
	}
	if g.width <= lastWidth {
		g.openCorridor()
	}
}
