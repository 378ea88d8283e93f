package bound

// price tests the prices y against every bin, keeps the bound that they prove
// if it is the best so far, and collects the fillings that the master lacks.
// now are the master's prices, nil at the start, when there is no master.
func (g *generator) price(y, now []float64) {
	g.relax.y, g.branch.y = y, y
	for k := range g.views {
		v := &g.views[k]
		g.depth[k], g.enough[k] = rough, g.interest(v, now)
		g.worth[k] = g.relax.evaluate(v, v.rate)
	}
	g.examine(now)
	c := certificate{y: y, margin: g.margin, theta: 1}
	for k := range g.views {
		c.add(&g.views[k], g.worth[k])
	}
	if proof := c.bound(g.counts); proof > g.proof || g.proof == 0 {
		g.proof = proof
		g.centre = c.scaled()
	}
}

// interest returns what fillings of the view must be worth to be of interest.
func (g *generator) interest(v *view, now []float64) float64 {
	if now == nil || v.bin.row < 0 {
		return v.price
	}
	return v.price + max(0, -now[g.level.rows+int(v.bin.row)])
}

// A view goes through stages of ever closer examination.
const (
	rough   = iota // bounded at the rates of the last time
	relaxed        // at the best rates
	done           // searched for whole fillings
)

// examine looks more closely at the view with the highest bound for its price, because that view limits
// what the prices prove. Once that view has been searched, examine goes on with others until there are
// enough new columns.
func (g *generator) examine(now []float64) {
	searched, looks, misses := 1+worthTolerance, 0, 0
	for {
		k, ratio := g.worst()
		rich := len(g.fresh) >= maxFresh || misses >= maxMisses
		if k < 0 || ratio <= 1+worthTolerance || rich && ratio <= searched {
			return
		}
		switch g.depth[k]++; g.depth[k] {
		case relaxed:
			g.worth[k] = g.relax.bound(&g.views[k], g.enough[k])
		case done:
			if now == nil {
				g.branch.search(&g.views[k], g.enough[k], 1, nil)
				g.worth[k] = min(g.worth[k], g.branch.root)
				continue
			}
			nodes := g.nodes
			if looks++; looks <= 4 {
				nodes *= 8 // these decide what the prices prove
			}
			if !g.search(k, nodes, now) {
				misses++
			}
			searched = max(searched, g.worth[k]/(g.enough[k]+1e-3))
		}
	}
}

// worst returns the view with the highest bound for its price among those that are not done.
func (g *generator) worst() (at int, ratio float64) {
	at = -1
	for k, w := range g.worth {
		if r := w / (g.enough[k] + 1e-3); r > ratio && g.depth[k] < done {
			at, ratio = k, r
		}
	}
	g.relax.steps += int64(len(g.worth))
	return at, ratio
}

// search looks for a whole filling of the view that the master can use, and reports whether it
// found one. A search that saw everything is a proof.
func (g *generator) search(k int, nodes int64, now []float64) bool {
	target := float64(g.enough[k] * (1 + g.aim()))
	defer func() { g.worth[k] = min(g.worth[k], g.branch.root) }()
	if g.branch.search(&g.views[k], target, nodes, nil) {
		g.worth[k] = min(g.worth[k], max(target, g.branch.value))
	}
	return g.keep(k, now)
}

// keep adds the filling just found to the pool if it is an improvement at the
// master's present prices.
func (g *generator) keep(k int, now []float64) bool {
	c := g.filling(k)
	g.sum(&c)
	if len(c.items) == 0 || g.master.reduced(&c, now) >= -1e-6*(c.price+1) {
		return false
	}
	g.fresh = append(g.fresh, g.master.add(c))
	return true
}

func (g *generator) filling(k int) column {
	c := column{view: int32(k), price: g.views[k].price}
	for j, n := range g.branch.best {
		if n > 0 {
			c.items = append(c.items, g.branch.order[j].item)
			c.counts = append(c.counts, float64(n))
		}
	}
	return c
}
