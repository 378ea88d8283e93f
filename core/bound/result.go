package bound

import (
	"cmp"
	"math"
	"slices"
)

// result translates what was found into the terms of the Problem.
func (g *generator) result(items int) Result {
	r := Result{
		Bound:    max(g.in.payable(g.proof), g.optimum),
		Dual:     make([]float64, items),
		Unfit:    g.in.unfit,
		Patterns: g.in.free,
		Steps:    g.steps(),
	}
	for i := range g.in.items {
		for _, m := range g.in.items[i].members {
			r.Dual[m] = g.centre[i]
		}
	}
	if g.many() {
		r.Relaxed = r.Bound
	}
	if g.master == nil {
		return r
	}
	if !g.many() {
		r.generator = g
	}
	total := 0.0
	split := newSplitter(g.in)
	stock := drawn{}
	for _, id := range g.master.basis {
		if id >= 0 && id < missing && !g.many() {
			split.note(&g.master.pool[id])
		}
	}
	for k, id := range g.master.basis {
		amount := g.master.x[k]
		switch {
		case id >= missing:
			r.Uncovered += amount
		case id >= 0 && amount > 1e-9:
			c := &g.master.pool[id]
			total += float64(amount * c.price)
			if g.many() {
				continue
			}
			stock.draw(g.views[c.view].bin, amount, func(bin int32, part float64) {
				r.Patterns = split.expand(r.Patterns, bin, c, part)
			})
		}
	}
	r.Relaxed = int64(total)
	return r
}

// drawn says how much was taken of each limited bin of the Problem.
type drawn map[int32]float64

// draw divides an amount among the bins that are alike, within their stocks.
func (d drawn) draw(b *bin, amount float64, use func(index int32, part float64)) {
	if b.stock < 0 {
		use(b.index, amount)
		return
	}
	for k, s := range b.alike {
		part := min(amount, max(0, float64(s.stock)-d[s.index]))
		if k == len(b.alike)-1 {
			part = amount
		}
		if part > 1e-9 {
			d[s.index] += part
			amount -= part
			use(s.index, part)
		}
	}
}

// splitter gives the pods of joined items back to the items of the Problem. Usually it serves the
// members of a joined item one after the other. Where a pattern may hold more pods of the joined
// item than some member has, the last members could be left with pods that must share bins with
// those served before; then it divides every pattern among all members by their counts.
type splitter struct {
	in   *instance
	left [][]float64 // per item and member: pods not yet covered
	even []bool      // per item: whether to divide by counts
}

func newSplitter(in *instance) *splitter {
	s := &splitter{in: in, even: make([]bool, len(in.items))}
	for i := range in.items {
		left := make([]float64, len(in.items[i].members))
		for m, n := range in.items[i].counts {
			left[m] = float64(n)
		}
		s.left = append(s.left, left)
	}
	return s
}

// note looks at a column before any column is expanded.
func (s *splitter) note(c *column) {
	for k, i := range c.items {
		if slices.Min(s.in.items[i].counts) < int64(c.counts[k]) {
			s.even[i] = true
		}
	}
}

// expand appends the column as patterns over the Problem's items.
func (s *splitter) expand(out []Pattern, bin int32, c *column, amount float64) []Pattern {
	cuts := s.cuts(c)
	for k := 1; k < len(cuts); k++ {
		part := float64(amount * (cuts[k] - cuts[k-1]))
		middle := (cuts[k] + cuts[k-1]) / 2
		for part > 1e-12 {
			p := s.piece(c, part, middle)
			p.Bin = bin
			part -= p.Amount
			out = append(out, p)
		}
	}
	return out
}

// cuts returns the places, from 0 to 1 of the column's amount, at which the division of some item
// among its members changes.
func (s *splitter) cuts(c *column) []float64 {
	cuts := []float64{0, 1}
	for k, i := range c.items {
		if !s.even[i] {
			continue
		}
		it := &s.in.items[i]
		before := 0.0
		for _, n := range it.counts {
			before += float64(n) * c.counts[k] / float64(it.count)
			cuts = append(cuts, before-math.Floor(before))
		}
	}
	slices.Sort(cuts)
	return slices.CompactFunc(cuts, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
}

// piece returns the part of a column in which the same members are served throughout.
func (s *splitter) piece(c *column, amount, at float64) Pattern {
	p := Pattern{Amount: amount}
	var from [][]float64
	for k, i := range c.items {
		it := &s.in.items[i]
		for m, n := range s.divide(int(i), int64(c.counts[k]), at) {
			if n == 0 {
				continue
			}
			left := &s.left[i][m]
			if !s.even[i] && *left > served {
				p.Amount = min(p.Amount, *left/float64(n))
			}
			p.Counts = append(p.Counts, Share{it.members[m], n})
			from = append(from, s.left[i][m:m+1])
		}
	}
	for k, left := range from {
		left[0] -= float64(p.Amount * float64(p.Counts[k].Count))
	}
	slices.SortFunc(p.Counts, func(a, b Share) int { return cmp.Compare(a.Item, b.Item) })
	return p
}

// served is how many pods count as none left.
const served = 1e-6

// divide says how many of n pods of item i come from each member.
func (s *splitter) divide(i int, n int64, at float64) []int64 {
	it := &s.in.items[i]
	give := make([]int64, len(it.members))
	if !s.even[i] {
		give[s.current(i)] = n
		return give
	}
	before, last := 0.0, int64(-1)
	for m, count := range it.counts {
		before += float64(count) * float64(n) / float64(it.count)
		upTo := int64(math.Floor(before - at))
		give[m] = upTo - last
		last = upTo
	}
	return give
}

// current returns the first member with pods left, or the last member.
func (s *splitter) current(i int) int {
	for m, left := range s.left[i] {
		if left > served {
			return m
		}
	}
	return len(s.left[i]) - 1
}
