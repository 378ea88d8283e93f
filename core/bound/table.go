package bound

import (
	"cmp"
	"math"
	"slices"
)

// table holds an upper bound on what a bin is worth when pods are whole, by dynamic programming over the
// room in two dimensions, once for all bins that are small enough. It ignores everything that can only
// lower a filling's worth: other dimensions, limits of items, caps above one, and where items may go. So
// its bounds hold for every bin.
//
// Room is counted in units. Needs and room are rounded down to whole units, which can only raise
// the worth as well.
type table struct {
	in    *instance
	dims  [2]int
	unit  [2]int64
	size  [2]int // units of the largest bin in the table, including no room
	plain []int32
	// caps are groups of which a bin may hold one pod. The table includes all but the last; for
	// the last, worth looks for the best pod for each bin.
	caps  [][]int32
	best  [][]float64 // after the plain items, and after each group but the last
	y     []float64
	steps int64
}

const (
	mostCells = 1 << 18 // of a table
	fewUnits  = 24      // of room that the smallest bin must have
)

// newTable returns nil if there are no two dimensions to work on.
func newTable(g *generator, cells int) *table {
	t := &table{in: g.in}
	if !t.chooseDims(g) {
		return nil
	}
	for j, d := range t.dims {
		t.unit[j] = unitOf(g, d)
	}
	t.chooseSize(g, cells)
	groups := map[int32]int{}
	for i := range g.in.items {
		group := g.in.items[i].group
		if group < 0 || g.in.caps[group] != 1 {
			t.plain = append(t.plain, int32(i))
			continue
		}
		at, ok := groups[group]
		if !ok {
			at = len(t.caps)
			groups[group] = at
			t.caps = append(t.caps, nil)
		}
		t.caps[at] = append(t.caps[at], int32(i))
	}
	t.best = append(t.best, make([]float64, t.size[0]*t.size[1]))
	for range max(0, len(t.caps)-1) {
		t.best = append(t.best, make([]float64, t.size[0]*t.size[1]))
	}
	return t
}

// chooseDims picks the two dimensions that cost most.
func (t *table) chooseDims(g *generator) bool {
	value := make([]float64, g.in.dims)
	for k := range g.views {
		for d, r := range g.views[k].rate {
			value[d] += r * g.views[k].room[d] / (g.views[k].price + 1)
		}
	}
	t.dims = [2]int{-1, -1}
	for d, v := range value {
		switch {
		case t.dims[0] < 0 || v > value[t.dims[0]]:
			t.dims[0], t.dims[1] = d, t.dims[0]
		case t.dims[1] < 0 || v > value[t.dims[1]]:
			t.dims[1] = d
		}
	}
	return t.dims[1] >= 0 && value[t.dims[1]] > 0
}

// unitOf returns a multiple of the common divisor of all needs that is small enough for the
// smallest bin to have some units.
func unitOf(g *generator, d int) int64 {
	unit, least := int64(0), int64(math.MaxInt64)
	for i := range g.in.items {
		unit = gcd(unit, g.in.items[i].need[d])
	}
	for k := range g.views {
		if r := g.views[k].bin.room[d]; r > 0 {
			least = min(least, r)
		}
	}
	unit = max(unit, 1)
	for unit*2*fewUnits <= least {
		unit *= 2
	}
	return unit
}

// chooseSize covers as many bins as the cells suffice for, small ones first.
func (t *table) chooseSize(g *generator, most int) {
	order := make([]int, len(g.views))
	cells := make([]int, len(g.views))
	for k := range order {
		room := g.views[k].bin.room
		order[k], cells[k] = k, min(t.units(room, 0), mostCells)*min(t.units(room, 1), mostCells)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cells[a], cells[b]) })
	t.size = [2]int{1, 1}
	for _, k := range order {
		room := g.views[k].bin.room
		x, y := max(t.size[0], t.units(room, 0)+1), max(t.size[1], t.units(room, 1)+1)
		if x <= most && y <= most && x*y <= most {
			t.size = [2]int{x, y}
		}
	}
	t.steps += int64(8 * len(order))
}

func (t *table) units(v []int64, j int) int { return int(v[t.dims[j]] / t.unit[j]) }

func (t *table) covers(v *view) bool {
	return t.units(v.bin.room, 0) < t.size[0] && t.units(v.bin.room, 1) < t.size[1]
}

// fill computes the table at the prices of items.
func (t *table) fill(y []float64) {
	t.y = y
	first := t.best[0]
	clear(first)
	for _, i := range t.plain {
		if y[i] > 0 {
			t.lift(first, first, i)
		}
	}
	for k := 1; k < len(t.best); k++ {
		copy(t.best[k], t.best[k-1])
		for _, i := range t.caps[k-1] {
			t.lift(t.best[k], t.best[k-1], i)
		}
	}
}

// lift adds pods of an item: one to what is behind, or any number if to and behind are the same
// table.
func (t *table) lift(to, behind []float64, i int32) {
	a, b, worth := t.units(t.in.items[i].need, 0), t.units(t.in.items[i].need, 1), t.y[i]
	if a == 0 && b == 0 && &to[0] == &behind[0] {
		worth = float64(worth * float64(t.in.items[i].limit))
	}
	w := t.size[1]
	for x := a; x < t.size[0] && b < w; x++ {
		raise(to[x*w+b:x*w+w], behind[(x-a)*w:(x-a)*w+w-b], worth)
	}
	t.steps += int64(t.size[0] * w)
}

func raise(to, behind []float64, worth float64) {
	behind = behind[:len(to)]
	for k, v := range behind {
		if v += worth; v > to[k] {
			to[k] = v
		}
	}
}

// worth returns the most that a filling of the room can be worth, and the pod of the last group
// that belongs to it, or -1.
func (t *table) worth(v *view) (worth float64, last int32) {
	x, y := t.units(v.bin.room, 0), t.units(v.bin.room, 1)
	top := t.best[len(t.best)-1]
	worth, last = top[x*t.size[1]+y], -1
	if len(t.caps) == 0 {
		return worth, last
	}
	for _, i := range t.caps[len(t.caps)-1] {
		a, b := t.units(t.in.items[i].need, 0), t.units(t.in.items[i].need, 1)
		if a > x || b > y {
			continue
		}
		if w := top[(x-a)*t.size[1]+y-b] + t.y[i]; w > worth {
			worth, last = w, i
		}
	}
	t.steps += int64(4 * len(t.caps[len(t.caps)-1]))
	return worth, last
}

// column returns the filling behind worth. It may break the rules that the table leaves out.
func (t *table) column(k int, v *view, last int32) column {
	x, y := t.units(v.bin.room, 0), t.units(v.bin.room, 1)
	counts := map[int32]float64{}
	take := func(i int32) {
		counts[i]++
		x -= t.units(t.in.items[i].need, 0)
		y -= t.units(t.in.items[i].need, 1)
	}
	if last >= 0 {
		take(last)
	}
	for s := len(t.best) - 1; s > 0; s-- {
		if i := t.step(t.best[s], t.best[s-1], t.caps[s-1], x, y); i >= 0 {
			take(i)
		}
	}
	for {
		i := t.step(t.best[0], t.best[0], t.plain, x, y)
		if i < 0 {
			break
		}
		take(i)
	}
	c := column{view: int32(k), price: v.price}
	for i := range t.in.items {
		if n := counts[int32(i)]; n > 0 {
			c.items, c.counts = append(c.items, int32(i)), append(c.counts, n)
		}
	}
	return c
}

// step returns the pod that was added last, or -1.
func (t *table) step(at, behind []float64, items []int32, x, y int) int32 {
	w := t.size[1]
	if at[x*w+y] <= 0 {
		return -1
	}
	t.steps += int64(4 * len(items))
	for _, i := range items {
		a, b := t.units(t.in.items[i].need, 0), t.units(t.in.items[i].need, 1)
		if a <= x && b <= y && t.y[i] > 0 && behind[(x-a)*w+y-b]+t.y[i] == at[x*w+y] {
			return i
		}
	}
	return -1
}
