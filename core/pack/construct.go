package pack

// construct opens bins for all waiting pods in several ways, and keeps the cheapest result.
// Filling by value alone is best where nodes are large and few, diving is best where patterns are
// small and many, and no scoring is best for every input.
func (p *packer) construct() {
	if !p.waiting() {
		return
	}
	waiting, pods := p.waitingRows()
	var r relaxation
	if p.ahead != nil && p.ahead.pods == pods {
		r = *p.ahead
	} else {
		r = p.relaxRows(waiting, pods, p.relaxEffort(waiting, pods))
	}
	p.ahead = nil
	for k := range p.kinds {
		p.kinds[k].worth = p.kinds[k].value
	}
	best := p.bestDraft(r, p.ways(pods, len(waiting.items)), p.steps+p.effort/draftsPart)
	if exact := p.exactDraft(); exact != nil && exact.better(best) {
		best = exact
	}
	p.putUp(best)
}

// relaxEffort is how many steps the relaxation of all waiting pods may take.
func (p *packer) relaxEffort(waiting *rows, pods int) int64 {
	times := 1
	if pods > fewPods {
		times = min(max(len(waiting.items)/manyRows, 1), mostTimes)
	}
	return p.effort / relaxPart * int64(times)
}

// ways returns in how many ways bins are filled: in all of them where pods are few, and without a
// dive where pods are so many that rounding hardly matters.
func (p *packer) ways(pods, rows int) int {
	switch {
	case pods > manyPodsAtOnce:
		return 1
	case pods > fewPods || rows > manyRows:
		return 2
	}
	return 2 * len(scorings)
}

// bestDraft fills new bins in several ways until the steps are spent. It always tries the first
// two ways. Patterns of a relaxation that has not settled say little, so bins are first filled without them, and of very many pods only so.
func (p *packer) bestDraft(r relaxation, ways int, stop int64) *draft {
	from := len(p.bins)
	var best *draft
	keep := func() {
		p.fillRest()
		if d := p.takeDown(from); best == nil || d.better(best) {
			best = d
		}
	}
	if !r.settled() {
		keep()
		if ways == 1 {
			return best
		}
	}
	for i := range ways {
		if i >= 2 && p.steps >= stop {
			break
		}
		if i%2 == 1 && len(r.Patterns) == 0 {
			continue // a dive has nothing to begin with
		}
		if i%2 == 1 && r.Relaxed > 0 && float64(best.cost) > farOff*float64(r.Relaxed) {
			continue // rules that the relaxation does not know decide the price
		}
		p.scoring = scorings[i/2]
		p.openWhole(r)
		if i%2 == 1 {
			p.dive()
		}
		keep()
	}
	p.scoring = scorings[0]
	return best
}

// dive repeatedly solves the relaxation of the pods that are left and opens bins by its patterns:
// those that are used in whole or, when there are none, the one that is used most.
func (p *packer) dive() {
	stop := p.steps + p.effort/divePart
	if p.countLeft() > manyPodsLeft || len(p.bins) > manyBins {
		stop = p.steps + p.effort/lateDivePart
	}
	for p.waiting() && p.steps < stop {
		r := p.relaxOnce(max(p.proof.Steps/8, leastDive))
		if p.openWhole(r) == 0 && p.openMost(r) == 0 {
			break
		}
	}
	p.forgetValues()
}

// forgetValues drops the values that a relaxation of fewer pods gave them.
func (p *packer) forgetValues() {
	for k := range p.kinds {
		p.kinds[k].value = p.kinds[k].worth
	}
}
