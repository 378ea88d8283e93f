package pack

import (
	"cmp"
	"slices"

	"tenon/core/bound"
	"tenon/core/feasible"
)

// fillHosts gives pods to existing nodes, whose price is paid already. It chooses the pods so that
// the rest is as cheap as possible.
func (p *packer) fillHosts() {
	hosts := p.usable()
	if len(hosts) == 0 {
		return
	}
	// 1. Is there room for all, or does it not matter what is put there?
	again := p.hosted
	p.hosted = true
	if !again {
		p.estimateValues()
	}
	p.fillByValue()
	if again || p.style == Greedy || !p.waiting() {
		return
	}
	p.vacateAll(hosts)
	// 2. What does the best of fleets put there?
	p.openHosts, p.pools = hosts, p.anyTier()
	waiting, pods := p.waitingRows()
	p.whole, p.wholePods = p.solve(waiting, p.effort/relaxPart, hosts...), pods
	if !p.whole.settled() {
		p.fillDearest()
		return
	}
	p.fillByPatterns(p.whole, hosts)
	if !p.waiting() {
		return
	}
	// 3. Is the rest nearly as cheap as it can be?
	rest := p.relaxRest()
	if float64(rest.Relaxed) > nearlyBest*float64(p.whole.Bound) {
		p.fillOtherwise(hosts, rest)
	}
}

// usable returns the existing nodes that may take some pod without a place.
func (p *packer) usable() []*bin {
	if len(p.hosts) == 0 {
		return nil
	}
	var out []*bin
	kinds := p.waitingKinds()
	for _, b := range p.hosts {
		if slices.ContainsFunc(kinds, func(k kindIndex) bool { return p.mayHost(b, &p.kinds[k]) }) {
			out = append(out, b)
		}
	}
	return out
}

// mayHost reports whether an existing node may take a pod of the kind, now or once the node has
// the partners that the pod needs there.
func (p *packer) mayHost(b *bin, k *kind) bool {
	if !feasible.Fits(k.need, b.room) || !p.sites[k.site].allowsHost(p.sp.Hosts[b.host].Class) {
		return false
	}
	return slices.ContainsFunc(k.lots, func(at LotIndex) bool {
		l := &p.lots[at]
		if l.Count == 0 {
			return false
		}
		n, _ := p.most(b, l, 1)
		return n > 0 || len(l.shape.Rules.HostNeeds) > 0
	})
}

// fillByPatterns gives existing nodes what the joint relaxation of existing and new nodes puts
// there: first the pattern that each node uses most, then the pods that are worth most at the same
// prices.
func (p *packer) fillByPatterns(r relaxation, hosts []*bin) {
	p.price(r)
	most := make([]bound.Pattern, len(hosts))
	for _, pattern := range r.Patterns {
		if h := int(pattern.Bin) - len(r.offers); h >= 0 && pattern.Amount > most[h].Amount {
			most[h] = pattern
		}
	}
	order := make([]int, len(hosts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(most[b].Amount, most[a].Amount) })
	kinds := p.waitingKinds()
	for _, h := range order {
		for _, share := range most[h].Counts {
			p.putItem(hosts[h], kinds, int(share.Item), int(share.Count))
		}
	}
	p.fillByValue()
}

// price gives the kinds their prices in the relaxation.
func (p *packer) price(r relaxation) {
	for k := range p.kinds {
		if item := p.kinds[k].item; item >= 0 && item < len(r.Dual) {
			p.kinds[k].value = r.Dual[item]
		}
	}
}

// fillDearest gives existing nodes the pods that would be dearest to place elsewhere.
func (p *packer) fillDearest() {
	p.estimateValues()
	p.relax(p.effort / dearestPart)
	p.fillByValue()
}

// fillByValue fills existing nodes by the values of pods.
func (p *packer) fillByValue() {
	p.spreadCapped()
	for _, b := range p.hosts {
		p.fill(b, p.sitesOf(b))
	}
}

// relaxRest solves the relaxation of the pods that find no room on existing nodes. If all of them
// are packed together, it keeps the relaxation for that packing.
func (p *packer) relaxRest() relaxation {
	waiting, pods := p.waitingRows()
	r := p.relaxRows(waiting, pods, p.relaxEffort(waiting, pods))
	if len(p.tiers) == 1 {
		p.ahead = &r
	}
	return r
}

// fillOtherwise fills existing nodes anew with the pods that would be dearest to place elsewhere,
// and keeps the filling that leaves the cheaper rest.
func (p *packer) fillOtherwise(hosts []*bin, rest relaxation) {
	left, first, ahead := p.countLeft(), p.vacateAll(hosts), p.ahead
	p.fillDearest()
	other := p.relaxRest()
	if cmp.Or(cmp.Compare(p.countLeft(), left), cmp.Compare(other.Relaxed, rest.Relaxed)) < 0 || !p.waiting() {
		return
	}
	p.vacateAll(hosts)
	for i, b := range hosts {
		p.restore(b, first[i])
	}
	p.waitingRows()
	p.price(rest)
	p.ahead = ahead
}

// vacateAll takes off some hosts what was put there, except partners, and returns it.
func (p *packer) vacateAll(hosts []*bin) [][]taken {
	out := make([][]taken, len(hosts))
	for i, b := range hosts {
		out[i] = p.vacate(b)
	}
	return out
}

func (p *packer) vacate(b *bin) []taken {
	content := slices.Clone(b.content)
	p.restore(b, b.partners)
	return content
}

// refill puts on a bin what was on it.
func (p *packer) refill(b *bin, content []taken) {
	for _, t := range content {
		p.put(b, t.lot, t.n, t.alternative)
	}
}

// partners returns existing nodes that are filled again together with the bins that are taken
// apart; every second attempt has none. Pods of later tiers do not take part, because they could
// change places with pods that an earlier tier should get.
func (p *packer) partners(draw *sequence) []*bin {
	if len(p.openHosts) == 0 || !p.firstTier || draw.next(2) == 0 {
		return nil
	}
	var out []*bin
	for range 1 + draw.next(3) {
		b := p.openHosts[draw.next(len(p.openHosts))]
		if !b.sealed && !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}
