package bound

import "math"

// sharpen raises the proof where searches for whole fillings do not finish. It tests prices
// against a table that knows the exact worth of small bins, and against the linear relaxation of
// fillings for the others. The master gets columns of both kinds, so that its price falls to what
// can be proven. Such columns are no patterns to pack by, so the result has to be taken before.
// sharpen does nothing for limited bins, because it would have to examine each of them separately.
func (g *generator) sharpen(steps int64) {
	if g.in.rows > 0 || g.gap() <= worthSharpening {
		return
	}
	if g.table = newTable(g, int(min(mostCells, steps/int64(leastRounds*len(g.in.items))))); g.table == nil {
		return
	}
	stop := g.steps() + steps
	g.openCorridor()
	keep, idle := sharpening, 0
	for g.steps() < stop && g.gap() > worthTolerance {
		before := g.proof
		g.test(g.mix(keep), g.master.y)
		found := g.improve()
		if idle++; g.proof > before*(1+worthTolerance) {
			idle = 0
		}
		switch {
		case idle > maxIdle:
			return
		case found:
			keep = sharpening
		case keep > 0:
			keep = lower(keep)
		default:
			return
		}
	}
}

const (
	worthSharpening = 0.005 // the gap from which on it is tried
	sharpening      = 0.5   // how much of the best proven prices is kept
	leastRounds     = 12    // rounds for which the steps must suffice, or the table is smaller
	maxIdle         = 12    // rounds with hardly any progress
	maxLooks        = 24    // bins a round that are relaxed, if others are worse
)

// test is price with the table in place of searches.
func (g *generator) test(y, now []float64) {
	g.relax.y = y
	g.table.fill(y)
	for k := range g.views {
		v := &g.views[k]
		g.depth[k], g.enough[k] = rough, g.interest(v, now)
		g.worth[k] = g.relax.evaluate(v, v.rate)
		if !g.table.covers(v) || g.worth[k] <= g.enough[k] {
			continue
		}
		worth, last := g.table.worth(v)
		if worth < g.worth[k] {
			g.worth[k], g.depth[k] = worth, done
			g.offer(g.table.column(k, v, last), now)
		}
	}
	g.loosen(now)
	c := certificate{y: y, margin: g.margin, theta: 1}
	for k := range g.views {
		c.add(&g.views[k], g.worth[k])
	}
	if proof := c.bound(g.counts); proof > g.proof {
		g.proof = proof
		g.centre = c.scaled()
	}
}

// loosen bounds bins at their best rates, the worst first, and gives the master the fillings
// behind the bounds, which hold fractions of pods.
func (g *generator) loosen(now []float64) {
	for looks := 0; ; looks++ {
		k, ratio := g.worst()
		if k < 0 || ratio <= 1+worthTolerance {
			return
		}
		if looks > maxLooks && ratio < g.settled() {
			return
		}
		g.depth[k] = done
		g.worth[k] = g.relax.bound(&g.views[k], 0)
		g.offer(g.relax.mixture(k, &g.views[k]), now)
	}
}

// settled returns the highest ratio among the bins that are done.
func (g *generator) settled() float64 {
	top := 1.0
	for k, w := range g.worth {
		if g.depth[k] == done {
			top = math.Max(top, w/(g.enough[k]+1e-3))
		}
	}
	return top
}

func (g *generator) offer(c column, now []float64) {
	if len(c.items) == 0 {
		return
	}
	g.sum(&c)
	if g.master.reduced(&c, now) < -1e-6*(c.price+1) {
		g.fresh = append(g.fresh, g.master.add(c))
	}
}
