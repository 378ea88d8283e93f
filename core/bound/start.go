package bound

import (
	"cmp"
	"slices"
)

// demand is a row of the smallest relaxation: something that bins have and pods use up. It is the
// room in a dimension, for all pods or for those that are confined to a set of bins, or the places
// under a cap.
type demand struct {
	dim   int       // -1 for a cap
	has   []float64 // per view
	uses  []float64 // per item
	total float64
	free  float64 // total of the bins of limited stock that are paid already
}

// rates is the solution of the smallest relaxation, which buys enough of every demand but ignores
// that pods are whole and that each goes into one bin.
type rates struct {
	demands []demand
	price   []float64 // per unit of each demand: no bin has more than its price's worth
	quota   []float64 // per view: how many of it
}

const (
	maxSets = 12 // sets of bins that get demands of their own
	maxCaps = 32 // caps that do
)

func (g *generator) solveRates() rates {
	r := rates{demands: g.demands(), quota: make([]float64, len(g.views))}
	r.price = make([]float64, len(r.demands))
	total := make([]float64, len(r.demands))
	fine := 1.0
	for k := range r.demands {
		total[k] = g.normalize(&r.demands[k])
		fine = max(fine, float64(2*g.lowestPrice(&r.demands[k])))
	}
	m := newMaster(total, nil, fine)
	columns := g.demandColumns(r.demands)
	for range 200 + 20*len(total) {
		best, at := -1e-9, -1
		for k := range columns {
			if s := m.reduced(&columns[k], m.y) / (columns[k].price + 1); s < best {
				best, at = s, k
			}
		}
		if at < 0 || !m.enter(m.add(columns[at])) {
			break
		}
		m.settle()
	}
	g.in.steps += m.steps + int64(m.pivots*len(columns)*len(total))
	copy(r.price, m.y)
	for k, id := range m.basis {
		if id >= 0 && id < missing {
			r.quota[m.pool[id].view] += m.x[k]
		}
	}
	return r
}

// normalize scales the demand so that the richest bin has 1 of it, and returns
// how much must be bought.
func (g *generator) normalize(d *demand) float64 {
	top := slices.Max(d.has)
	for k := range d.has {
		d.has[k] /= top
	}
	d.total = 0
	for i := range d.uses {
		d.uses[i] /= top
		d.total += float64(d.uses[i] * g.counts[i])
	}
	return max(0, d.total-d.free/top)
}

// lowestPrice returns the least that one unit costs when a bin is bought for it alone.
func (g *generator) lowestPrice(d *demand) float64 {
	low := 0.0
	for k, h := range d.has {
		if p := g.views[k].price / max(h, 1e-12); h > 0 && (low == 0 || p < low) {
			low = p
		}
	}
	return low
}

func (g *generator) demandColumns(demands []demand) []column {
	var out []column
	for k := range g.views {
		if g.views[k].bin.stock >= 0 {
			continue
		}
		c := column{view: int32(k), price: g.views[k].price}
		for r := range demands {
			if h := demands[r].has[k]; h > 0 {
				c.rows = append(c.rows, int32(r))
				c.coefs = append(c.coefs, h)
			}
		}
		out = append(out, c)
	}
	return out
}

// demands lists what unlimited bins have and pods want.
func (g *generator) demands() []demand {
	out := g.roomDemands(func(int) bool { return true }, func(int) bool { return true })
	for _, set := range g.commonSets() {
		out = append(out, g.roomDemands(
			func(k int) bool { return inSet(set, int(g.views[k].bin.index)) },
			func(i int) bool { return subset(g.in.sets[g.in.items[i].set], set) })...)
	}
	return append(out, g.capDemands()...)
}

func inSet(set []uint64, b int) bool { return b/64 < len(set) && set[b/64]>>(b%64)&1 == 1 }

func subset(a, b []uint64) bool {
	for w, word := range a {
		if w < len(b) {
			word &^= b[w]
		}
		if word != 0 {
			return false
		}
	}
	return true
}

// commonSets returns the sets of bins to which the most pods are confined.
func (g *generator) commonSets() [][]uint64 {
	pods := make([]int64, len(g.in.sets))
	order := make([]int, len(pods))
	for k := range order {
		order[k] = k
	}
	for i := range g.in.items {
		pods[g.in.items[i].set] += g.in.items[i].count
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(pods[b], pods[a]) })
	var out [][]uint64
	for _, k := range order[:min(len(order), maxSets)] {
		everywhere := true
		for v := range g.views {
			everywhere = everywhere && inSet(g.in.sets[k], int(g.views[v].bin.index))
		}
		if !everywhere && pods[k] > 0 {
			out = append(out, g.in.sets[k])
		}
	}
	return out
}

func (g *generator) roomDemands(bins, items func(int) bool) []demand {
	var out []demand
	for dim := range g.in.dims {
		d := g.newDemand(dim)
		for k := range g.views {
			if bins(k) {
				d.supply(&g.views[k], k, g.views[k].room[dim])
			}
		}
		for i := range d.uses {
			if items(i) {
				d.uses[i] = g.in.need[dim][i]
			}
		}
		out = appendWanted(out, d)
	}
	return out
}

// supply notes that view k has so much of what is in demand.
func (d *demand) supply(v *view, k int, much float64) {
	switch {
	case v.bin.stock < 0:
		d.has[k] = much
	case v.price == 0:
		d.free += float64(much * float64(v.bin.stock))
	}
}

func (g *generator) newDemand(dim int) demand {
	return demand{dim: dim, has: make([]float64, len(g.views)), uses: make([]float64, len(g.in.items))}
}

// appendWanted leaves out demands that no item has or that no bin can meet.
func appendWanted(out []demand, d demand) []demand {
	if len(d.has) == 0 || slices.Max(d.has) <= 0 || slices.Max(d.uses) <= 0 {
		return out
	}
	return append(out, d)
}

// capDemands returns the caps that force the most bins.
func (g *generator) capDemands() []demand {
	type force struct {
		bins   float64
		demand demand
	}
	var all []force
	for group, limit := range g.in.caps {
		d := g.capDemand(limit, func(i int) bool { return slices.Contains(g.in.items[i].groups, int32(group)) })
		all = append(all, force{g.demandTotal(&d) / float64(limit), d})
	}
	for i := range g.in.items {
		if it := &g.in.items[i]; it.limit < it.count {
			d := g.capDemand(it.limit, func(j int) bool { return j == i })
			all = append(all, force{g.demandTotal(&d) / float64(it.limit), d})
		}
	}
	slices.SortStableFunc(all, func(a, b force) int { return cmp.Compare(b.bins, a.bins) })
	var out []demand
	for _, f := range all[:min(len(all), maxCaps)] {
		out = appendWanted(out, f.demand)
	}
	return out
}

func (g *generator) capDemand(limit int64, items func(int) bool) demand {
	d := g.newDemand(-1)
	for i := range d.uses {
		if items(i) {
			d.uses[i] = 1
		}
	}
	for k := range g.views {
		v := &g.views[k]
		if slices.ContainsFunc(v.items, func(i int32) bool { return d.uses[i] > 0 }) {
			d.supply(v, k, float64(limit))
		}
	}
	return d
}

func (g *generator) demandTotal(d *demand) float64 {
	total := 0.0
	for i, u := range d.uses {
		total += float64(u * g.counts[i])
	}
	return total
}

// linearPrices prices every pod by what it uses up, and starts every view with
// the rates that its bin sees.
func (g *generator) linearPrices(r rates) []float64 {
	y := make([]float64, len(g.in.items))
	for k, d := range r.demands {
		price := max(0, r.price[k])
		for i, u := range d.uses {
			y[i] += float64(price * u)
		}
		for v, h := range d.has {
			if h > 0 && d.dim >= 0 {
				g.views[v].rate[d.dim] += price * h / g.views[v].room[d.dim]
			}
		}
	}
	return y
}
