package pack

// thoroughness is the factor, in halves, by which a problem gets more effort. With few pods of few kinds,
// rounding the relaxation costs most and each step of the search is cheap.
func (p *packer) thoroughness(r *rows, pods int) int64 {
	switch {
	case len(r.items) > manyRows || pods > fewPods || pods <= manyPods && len(p.groups.caps) > 0:
		return 2
	case pods > manyPods*5/2:
		return 3
	}
	return 5
}

func (p *packer) run() {
	p.dependentOnHosts()
	p.fillHosts()
	p.eachTier(func() {
		p.placeDependent(p.offers, false)
		if p.style == Greedy {
			for before := 0; p.waiting() && p.countLeft() != before; {
				before = p.countLeft()
				p.firstFit() // shrinking its bins leaves more of the limits
			}
			return
		}
		p.construct()
		p.improve()
		if p.waiting() { // cheaper bins may have left more of the limits
			p.fillRest()
		}
	})
}

// eachTier asks the pools of each tier while pods are waiting.
func (p *packer) eachTier(ask func()) {
	for i, tier := range p.tiers {
		if !p.waiting() {
			return
		}
		p.firstTier = i == 0
		p.pools = make([]bool, len(p.sp.Snapshot.Pools))
		for _, pool := range tier {
			p.pools[pool] = true
		}
		p.offers = p.offersFor(p.sites)
		p.relaxed, p.crossed = openable{}, nil
		p.tierStart = len(p.bins)
		ask()
	}
}
