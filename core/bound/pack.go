package bound

import (
	"cmp"
	"math"
	"slices"
)

// packing makes the first whole patterns. It packs all pods once: it fills bins in the proportions
// of the smallest relaxation, and each bin evenly in all dimensions, so that the remaining pods
// stay as easy to pack as the whole was.
type packing struct {
	g      *generator
	rates  rates
	y      []float64
	left   []int64
	quota  []float64
	tempts []int     // views by value for money
	weight []float64 // per dimension: how far it will be filled, sharply
	room   []int64
	caps   []int64
	rest   []float64
	counts []int64
}

func newPacking(g *generator, r rates) *packing {
	n := len(g.in.items)
	p := &packing{g: g, rates: r, y: g.centre, left: make([]int64, n), quota: slices.Clone(r.quota),
		weight: make([]float64, g.in.dims), room: make([]int64, g.in.dims), caps: make([]int64, len(g.in.caps)),
		rest: make([]float64, g.in.dims), counts: make([]int64, n)}
	for i := range p.left {
		p.left[i] = g.in.items[i].count
	}
	p.weigh()
	p.rank()
	return p
}

// weigh finds how full each dimension will be if the relaxation's bins are bought.
func (p *packing) weigh() {
	g := p.g
	for d := range p.weight {
		need, room := 0.0, 1e-9
		for i, n := range g.in.need[d] {
			need += float64(n * g.counts[i])
		}
		for k, q := range p.quota {
			room += float64(q * g.views[k].room[d])
		}
		full := min(1, need/room)
		square := float64(full * full)
		p.weight[d] = float64(square * square)
	}
}

// rank orders views by the worth of all they have, for their price.
func (p *packing) rank() {
	offer := make([]float64, len(p.g.views))
	p.tempts = make([]int, len(offer))
	for k := range offer {
		p.tempts[k] = k
		for r, d := range p.rates.demands {
			offer[k] += float64(d.has[k] * p.rates.price[r])
		}
		offer[k] /= p.g.views[k].price + 1
	}
	slices.SortStableFunc(p.tempts, func(a, b int) int { return cmp.Compare(offer[b], offer[a]) })
}

// all packs everything, dear pods first, and returns the patterns used.
func (p *packing) all() []column {
	order := make([]int, len(p.y))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.y[b], p.y[a]) })
	var out []column
	for _, i := range order {
		for p.left[i] > 0 {
			k := p.choose(i)
			if k < 0 {
				break
			}
			p.fill(k, i)
			c := p.column(k)
			times := p.spend(&c)
			p.quota[k] -= float64(times)
			out = append(out, c)
		}
	}
	return out
}

// choose picks the bin for item i: the one with the most quota left, or else the one with the best
// value for its price.
func (p *packing) choose(i int) int {
	best := -1
	for _, k := range p.tempts {
		v := &p.g.views[k]
		if v.bin.stock >= 0 || !inSet(v.bin.has, i) {
			continue
		}
		if best < 0 || p.quota[k] > max(p.quota[best], 0) {
			best = k
		}
	}
	p.g.relax.steps += int64(len(p.tempts))
	return best
}

// fill puts one pod of item first into the bin, then always the item that best
// fits what is left of the room: large, and along its longer sides.
func (p *packing) fill(k, first int) {
	v := &p.g.views[k]
	clear(p.counts)
	copy(p.room, v.bin.room)
	copy(p.caps, p.g.in.caps)
	p.put(first, 1)
	for {
		for d := range p.rest {
			p.rest[d] = p.weight[d] * float64(p.room[d]) / (float64(v.room[d]*v.room[d]) + 1e-9)
		}
		best, score, fit := -1, -1.0, int64(0)
		p.g.relax.steps += int64(2 * len(v.items) * len(p.rest))
		for _, i := range v.items {
			n := p.fits(int(i))
			if n <= 0 {
				continue
			}
			if s := p.score(int(i), v); s > score {
				best, score, fit = int(i), s, n
			}
		}
		if best < 0 {
			return
		}
		p.put(best, (fit+3)/4)
	}
}

func (p *packing) score(i int, v *view) float64 {
	s := 0.0
	for d, r := range p.rest {
		s += float64(r * p.g.in.need[d][i])
	}
	if p.g.in.items[i].group >= 0 {
		s += max(0, p.y[i]/(v.price+1)-s)
	}
	return s
}

func (p *packing) fits(i int) int64 {
	it := &p.g.in.items[i]
	n := min(it.limit, p.left[i]) - p.counts[i]
	if n <= 0 {
		return 0
	}
	for d, need := range it.need {
		if need > p.room[d] {
			return 0
		}
		if need > 0 {
			n = min(n, p.room[d]/need)
		}
	}
	for _, g := range it.groups {
		n = min(n, p.caps[g])
	}
	return n
}

func (p *packing) put(i int, n int64) {
	it := &p.g.in.items[i]
	p.counts[i] += n
	for d, need := range it.need {
		p.room[d] -= n * need
	}
	for _, g := range it.groups {
		p.caps[g] -= n
	}
}

func (p *packing) column(k int) column {
	c := column{view: int32(k), price: p.g.views[k].price}
	for i, n := range p.counts {
		if n > 0 {
			c.items = append(c.items, int32(i))
			c.counts = append(c.counts, float64(n))
		}
	}
	return c
}

// spend uses the pattern as often as pods remain for it.
func (p *packing) spend(c *column) int64 {
	times := int64(math.MaxInt64)
	for k, i := range c.items {
		times = min(times, p.left[i]/int64(c.counts[k]))
	}
	for k, i := range c.items {
		p.left[i] -= times * int64(c.counts[k])
	}
	return times
}
