package pack

import (
	"cmp"
	"math/bits"
	"slices"

	"tenon/core/snapshot"
)

// improve takes bins apart, packs their pods anew, and keeps what is cheaper, or is as cheap and has fewer
// nodes.
func (p *packer) improve() {
	if p.settled() {
		return
	}
	if len(p.offers) > manyOffers {
		p.choice = p.inUse()
		defer func() { p.choice = nil }()
	}
	p.repackWasteful()
	p.repair()
	p.repackPools()
}

// repair takes a few bins apart at a time, the most wasteful first. It ends when a number of attempts in a
// row did not help or the effort is spent.
func (p *packer) repair() {
	offers := p.promising()
	draw := sequence(1)
	stop := p.steps + p.repairEffort()
	for idle := 0; idle < patience && p.steps < stop; {
		victims := p.victims(&draw)
		if len(victims) == 0 {
			return
		}
		hosts := p.partners(&draw)
		p.scoring = scorings[draw.next(len(scorings))]
		if p.repack(victims, hosts, offers) {
			idle = 0
		} else {
			idle++
		}
	}
	p.scoring = scorings[0]
}

// settled reports whether there is nothing to improve: no bin was opened, or only one for a single
// pod, which could choose among all offers.
func (p *packer) settled() bool {
	opened := p.bins[p.tierStart:]
	return len(opened) == 0 || len(opened) == 1 && opened[0].pods() == 1 && !p.waiting()
}

// repairEffort is how many steps repairs of wasteful bins may take. It is smaller if these bins
// are a small part of the price.
func (p *packer) repairEffort() int64 {
	if len(p.bins) > manyBins {
		return p.effort / lateRepairPart
	}
	return p.effort / repairPart
}

// repackWasteful takes the most wasteful bins apart, as many as it can manage at once, and packs
// their pods by a relaxation of these pods alone. Rounding leaves waste in many bins, and packing
// them together removes more of it than repairing each.
func (p *packer) repackWasteful() {
	pods := 0
	for _, b := range p.bins[p.tierStart:] {
		pods += b.pods()
	}
	if pods <= manyPods/2 { // they were packed together just now
		return
	}
	stop := p.steps + p.repairEffort()
	for i := range overhauls {
		if p.steps >= stop {
			return
		}
		victims := p.mostWasteful(manyPods >> (i % 2))
		if len(victims) < 2 {
			return
		}
		p.replace(victims, nil, func() *draft {
			r := p.relax(p.effort / overhaulPart)
			d := p.bestDraft(r, 2*len(scorings), p.steps+p.effort/overhaulPart)
			p.forgetValues()
			return d
		})
	}
}

// repackPools packs the pods of each pool greedily. One draft of all pods may be the cheapest although a
// pool's part of it has more nodes than its price needs.
func (p *packer) repackPools() {
	for pool, asked := range p.pools {
		if !asked {
			continue
		}
		victims, pods := p.binsOf(snapshot.PoolIndex(pool))
		if len(victims) < 2 || pods > manyPods {
			continue
		}
		p.replace(victims, nil, func() *draft {
			from := len(p.bins)
			p.firstFit()
			return p.takeDown(from)
		})
	}
}

// binsOf returns the positions of a pool's new bins that may be repacked, and how many pods are on them.
func (p *packer) binsOf(pool snapshot.PoolIndex) (positions []int, pods int) {
	for i := p.tierStart; i < len(p.bins); i++ {
		if b := p.bins[i]; !b.sealed && p.sp.Machines[b.machine].Pool == pool {
			positions = append(positions, i)
			pods += b.pods()
		}
	}
	return positions, pods
}

// promising returns the offers that hold most value for their price when they are full, a few of
// every size.
func (p *packer) promising() []int {
	if len(p.bins) > manyBins || p.choice != nil {
		return p.inUse()
	}
	gain := make([]float64, len(p.offers))
	left := make([]int, len(p.kinds))
	for k := range p.kinds { // as if all pods were waiting
		left[k] = p.kinds[k].left
		for _, at := range p.kinds[k].lots {
			p.kinds[k].left += p.lots[at].given - p.lots[at].dropped - p.lots[at].Count
		}
	}
	kinds := p.waitingKinds()
	if len(kinds) > manyKinds {
		kinds = p.someKinds(kinds)
	}
	for i := range p.offers {
		gain[i] = p.judge(&p.offers[i], kinds)
	}
	for k := range p.kinds {
		p.kinds[k].left = left[k]
	}
	order := p.all()
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gain[b], gain[a]) })
	bySize := map[int]int{}
	var out []int
	for _, i := range order {
		size := bits.Len64(uint64(p.offers[i].price)) * 64
		for s := range p.offers[i].sites.All { // offers for some sites only are kept for them
			size += s
			break
		}
		if bySize[size] < perSize {
			bySize[size]++
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}

// inUse returns the offers of which some bin was bought or, if bins are many, all that are worth
// it.
func (p *packer) inUse() []int {
	type bought struct{ machine, slot int }
	used := map[bought]bool{}
	for _, b := range p.bins[p.tierStart:] {
		used[bought{b.machine, b.slot}] = true
	}
	var out []int
	for i := range p.offers {
		if used[bought{p.offers[i].machine, p.offers[i].slot}] {
			out = append(out, i)
		}
	}
	return out
}

// repack takes the bins apart, fills existing nodes anew, and then new nodes of the offers.
func (p *packer) repack(victims []int, hosts []*bin, offers []int) bool {
	from := len(p.bins) - len(victims)
	return p.replace(victims, hosts, func() *draft {
		for _, b := range hosts {
			p.fill(b, p.sitesOf(b))
		}
		p.fillFrom(offers)
		return p.takeDown(from)
	})
}
