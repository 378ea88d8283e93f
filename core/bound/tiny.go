package bound

const (
	tinyPods  = 13
	tinyNodes = 1_500_000
)

// solveTiny returns the price of the best packing if there are few enough pods to find it
// outright, or else 0. No relaxation gives a tighter bound.
func (g *generator) solveTiny() int64 {
	pods := int64(0)
	for i := range g.in.items {
		if pods += g.in.items[i].count; pods > tinyPods {
			return 0
		}
	}
	if g.budget < 10*tinyNodes {
		return 0
	}
	e := newExact(g.in.problem(), tinyNodes)
	if e == nil {
		return 0
	}
	cost, ok := e.solve()
	g.in.steps += 10 * (tinyNodes - e.nodes)
	if !ok {
		return 0
	}
	return cost
}

// problem states the instance as a separate Problem.
func (in *instance) problem() Problem {
	p := Problem{Groups: in.caps}
	for k := range in.bins {
		p.Bins = append(p.Bins, Bin{Room: in.bins[k].room, Price: in.bins[k].price, Stock: in.bins[k].stock})
	}
	for i := range in.items {
		it := Item{Need: in.items[i].need, Count: in.items[i].count, Groups: in.items[i].groups,
			Bins: make([]uint64, (len(in.bins)+63)/64)}
		if limit := in.items[i].limit; limit < it.Count {
			it.Groups = append(it.Groups[:len(it.Groups):len(it.Groups)], int32(len(p.Groups)))
			p.Groups = append(p.Groups[:len(p.Groups):len(p.Groups)], limit)
		}
		for k := range in.bins {
			if inSet(in.bins[k].has, i) {
				it.Bins[k/64] |= 1 << (k % 64)
			}
		}
		p.Items = append(p.Items, it)
	}
	return p
}
