package bound

import (
	"cmp"
	"slices"
)

// view is a bin as pricing sees it: the items it can hold, and how many of each. Items in a group
// come last, group by group.
type view struct {
	bin    *bin
	price  float64
	items  []int32
	most   []int64
	room   []float64
	dims   []int // the dimensions that can bind
	spans  []span
	single int       // items before this index are in no group
	rate   []float64 // value per unit of each dimension, kept between rounds
}

// span is the part of a view's items that shares a cap.
type span struct {
	from, to int
	limit    int64
}

func newView(in *instance, b *bin) view {
	v := view{bin: b, price: float64(b.price), rate: make([]float64, in.dims), room: make([]float64, in.dims)}
	eachBit(b.has, func(i int) { v.items = append(v.items, int32(i)) })
	slices.SortStableFunc(v.items, func(i, j int32) int {
		return cmp.Compare(in.items[i].group, in.items[j].group)
	})
	v.most = make([]int64, len(v.items))
	use := make([]float64, in.dims)
	for k, i := range v.items {
		v.most[k] = most(&in.items[i], b.room)
		for d := range use {
			use[d] += float64(float64(v.most[k]) * in.need[d][i])
		}
	}
	for d, u := range use {
		v.room[d] = float64(b.room[d])
		if u > v.room[d] {
			v.dims = append(v.dims, d)
		}
	}
	v.findSpans(in)
	in.steps += int64(len(v.items) * (in.dims*4 + 8))
	return v
}

// most returns how many pods of the item fit into the room alone.
func most(it *item, room []int64) int64 {
	n := it.limit
	for d, need := range it.need {
		if need > 0 {
			n = min(n, room[d]/need)
		}
	}
	return n
}

func (v *view) findSpans(in *instance) {
	for k := 0; k < len(v.items); {
		g := in.items[v.items[k]].group
		end := k + 1
		for end < len(v.items) && in.items[v.items[end]].group == g {
			end++
		}
		if g < 0 {
			v.single = end
		} else {
			v.spans = append(v.spans, span{from: k, to: end, limit: in.caps[g]})
		}
		k = end
	}
}

// relaxer bounds the value of the best filling of a bin: it looks for rates
// (value per unit of room) at which room and leftover value together are worth
// least. Every choice of rates gives a valid bound; good ones give the linear
// relaxation of the bounded knapsack with one cap per item.
type relaxer struct {
	in     *instance
	y      []float64
	use    []float64 // of the last evaluation
	value  float64
	steps  int64
	pick   []surplus
	lp     tinyLP
	point  []float64
	chosen []surplus   // by the last evaluation
	mixed  [][]surplus // the choice behind each row of the small program
}

type surplus struct {
	gain float64
	item int32
	most int64
}

func newRelaxer(in *instance) *relaxer {
	return &relaxer{in: in, use: make([]float64, in.dims), point: make([]float64, in.dims)}
}

// evaluate returns Σ rate·room + the best that pods worth more than their room
// can add. It also records what that choice uses and is worth.
func (r *relaxer) evaluate(v *view, rate []float64) float64 {
	total := 0.0
	r.value = 0
	r.chosen = r.chosen[:0]
	for _, d := range v.dims {
		total += float64(rate[d] * v.room[d])
		r.use[d] = 0
	}
	r.steps += int64(len(v.items) * (len(v.dims) + 1))
	for k, i := range v.items[:v.single] {
		if gain := r.gain(v, rate, i); gain > 0 {
			n := float64(v.most[k])
			total += float64(n * gain)
			r.take(v, i, n)
		}
	}
	for _, s := range v.spans {
		total += r.evaluateSpan(v, rate, s)
	}
	return total
}

func (r *relaxer) gain(v *view, rate []float64, i int32) float64 {
	cost := 0.0
	for _, d := range v.dims {
		cost += float64(rate[d] * r.in.need[d][i])
	}
	return r.y[i] - cost
}

func (r *relaxer) take(v *view, i int32, n float64) {
	r.value += float64(n * r.y[i])
	r.chosen = append(r.chosen, surplus{item: i, most: int64(n)})
	for _, d := range v.dims {
		r.use[d] += float64(n * r.in.need[d][i])
	}
}

// evaluateSpan fills a cap with the items that gain most.
func (r *relaxer) evaluateSpan(v *view, rate []float64, s span) float64 {
	r.pick = r.pick[:0]
	for k := s.from; k < s.to; k++ {
		if gain := r.gain(v, rate, v.items[k]); gain > 0 {
			r.pick = append(r.pick, surplus{gain, v.items[k], v.most[k]})
		}
	}
	if len(r.pick) == 0 {
		return 0
	}
	if s.limit == 1 {
		r.pick[0] = slices.MaxFunc(r.pick, func(a, b surplus) int { return cmp.Compare(a.gain, b.gain) })
	} else {
		slices.SortFunc(r.pick, func(a, b surplus) int {
			return cmp.Or(cmp.Compare(b.gain, a.gain), cmp.Compare(a.item, b.item))
		})
	}
	total, left := 0.0, s.limit
	for _, p := range r.pick {
		n := min(left, p.most)
		if left -= n; n == 0 {
			break
		}
		total += float64(float64(n) * p.gain)
		r.take(v, p.item, float64(n))
	}
	return total
}

const (
	relaxRounds    = 40
	relaxTolerance = 1e-4
)

// bound returns an upper bound on the value of any filling of the bin at the
// prices y, and leaves the rates of that bound in the view. It stops as soon as
// the bound is at most enough.
func (r *relaxer) bound(v *view, enough float64) float64 {
	best := r.evaluate(v, v.rate)
	if best <= enough || len(v.dims) == 0 {
		return best
	}
	r.lp.reset(len(v.dims))
	r.mixed = slices.Grow(r.mixed[:0], len(v.dims)+1)[:len(v.dims)+1]
	for row := range r.mixed {
		r.forget(row)
	}
	r.offer(v)
	for range relaxRounds {
		floor := r.lp.solveSlacks(r.forget)
		if best-floor <= relaxTolerance*best {
			break
		}
		got, entered := r.probe(v, 0.3)
		if !entered && got >= best {
			got, entered = r.probe(v, 0)
		}
		if got < best {
			best = got
			copy(v.rate, r.point)
		}
		if best <= enough || !entered {
			break
		}
	}
	return best
}

// probe evaluates between the best known rates and those of the small program.
func (r *relaxer) probe(v *view, keep float64) (bound float64, entered bool) {
	for k, d := range v.dims {
		r.point[d] = float64(keep*v.rate[d]) + (1-keep)*max(0, r.lp.dual[k])/v.room[d]
	}
	bound = r.evaluate(v, r.point)
	return bound, r.offer(v)
}

// offer gives the last evaluated choice to the small program.
func (r *relaxer) offer(v *view) bool {
	for k, d := range v.dims {
		r.lp.in[k] = r.use[d] / v.room[d]
	}
	entered := r.lp.enter(r.value)
	if entered {
		r.mixed[r.lp.last] = append(r.mixed[r.lp.last][:0], r.chosen...)
	}
	return entered
}

// forget empties a row; the next choice that enters there reuses its memory.
func (r *relaxer) forget(row int) { r.mixed[row] = r.mixed[row][:0] }

// mixture returns the filling behind the last bound: the small program's mix of choices.
func (r *relaxer) mixture(k int, v *view) column {
	counts := make([]float64, len(r.in.items))
	for row, choice := range r.mixed {
		for _, s := range choice {
			counts[s.item] += float64(r.lp.x[row] * float64(s.most))
		}
	}
	c := column{view: int32(k), price: v.price}
	for i, n := range counts {
		if n > 1e-9 {
			c.items, c.counts = append(c.items, int32(i)), append(c.counts, n)
		}
	}
	return c
}
