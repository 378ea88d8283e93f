package bound

// resourceRates solves the smallest relaxation: buy room in each dimension, so
// that all pods together have enough of it. Its dual prices are a rate for each
// unit of each dimension, such that no bin's room is worth more than its price.
func (g *generator) resourceRates() []float64 {
	in := g.in
	rates := make([]float64, in.dims)
	dims, scale := g.boughtDims()
	if len(dims) == 0 {
		return rates
	}
	total := make([]float64, len(dims))
	for k, d := range dims {
		for i := range in.items {
			total[k] += g.counts[i] * in.need[d][i] / scale[d]
		}
	}
	m := newMaster(total, nil, g.highestRate(dims, scale))
	columns := g.roomColumns(dims, scale)
	for range 50 * len(dims) {
		best, at := -1e-9, -1
		for k := range columns {
			if r := m.reduced(&columns[k], m.y) / (columns[k].price + 1); r < best {
				best, at = r, k
			}
		}
		in.steps += int64(len(columns) * len(dims))
		if at < 0 || !m.enter(m.add(columns[at])) {
			break
		}
		m.settle()
	}
	for k, d := range dims {
		rates[d] = max(0, m.y[k]) / scale[d]
	}
	return rates
}

// boughtDims are the dimensions of which unlimited bins have room, with the most
// that one has.
func (g *generator) boughtDims() (dims []int, scale []float64) {
	scale = make([]float64, g.in.dims)
	for k := range g.views {
		for d, r := range g.views[k].room {
			if g.views[k].bin.stock < 0 {
				scale[d] = max(scale[d], r)
			}
		}
	}
	for d, s := range scale {
		if s > 0 {
			dims = append(dims, d)
		}
	}
	return dims, scale
}

func (g *generator) roomColumns(dims []int, scale []float64) []column {
	var out []column
	for k := range g.views {
		v := &g.views[k]
		if v.bin.stock >= 0 {
			continue
		}
		c := column{view: int32(k), price: v.price, row: -1}
		for j, d := range dims {
			if v.room[d] > 0 {
				c.items = append(c.items, int32(j))
				c.counts = append(c.counts, v.room[d]/scale[d])
			}
		}
		out = append(out, c)
	}
	return out
}

// highestRate is above every rate that the bins' prices allow.
func (g *generator) highestRate(dims []int, scale []float64) float64 {
	highest := 0.0
	for _, d := range dims {
		low := -1.0
		for k := range g.views {
			v := &g.views[k]
			if v.bin.stock < 0 && v.room[d] > 0 {
				if r := v.price * scale[d] / v.room[d]; low < 0 || r < low {
					low = r
				}
			}
		}
		highest = max(highest, low)
	}
	return 2*highest + 1
}

// linearPrices prices every pod by its needs alone.
func (g *generator) linearPrices(rates []float64) []float64 {
	y := make([]float64, len(g.in.items))
	for i := range y {
		for d, r := range rates {
			y[i] += r * g.in.need[d][i]
		}
	}
	for k := range g.views {
		copy(g.views[k].rate, rates)
	}
	return y
}
