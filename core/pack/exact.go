package pack

import (
	"math"

	"tenon/core/model"
)

// exactDraft packs few pods at the least possible price, by trying every group of them on the cheapest
// offer that holds it and then every way of joining groups. It is nil if rules beyond size and place apply;
// the other ways of packing keep those rules.
func (p *packer) exactDraft() *draft {
	pods := p.podsToTry()
	if pods == nil {
		return nil
	}
	groups := 1 << len(pods)
	offers := make([]int, groups) // cheapest offer that holds the group, or -1
	for g := 1; g < groups; g++ {
		offers[g] = p.cheapestHolding(pods, g)
	}
	best := make([]model.Money, groups)
	last := make([]int, groups) // the group that is taken off a set of pods
	for set := 1; set < groups; set++ {
		best[set] = math.MaxInt64
		first := set & -set
		for g := set; g > 0; g = (g - 1) & set {
			if g&first == 0 || offers[g] < 0 || best[set^g] == math.MaxInt64 {
				continue
			}
			if cost := best[set^g] + p.offers[offers[g]].price; cost < best[set] {
				best[set], last[set] = cost, g
			}
		}
	}
	tried := int64(1)
	for range pods {
		tried *= 3
	}
	p.steps += tried
	if best[groups-1] == math.MaxInt64 {
		return nil
	}
	return p.build(pods, last, offers)
}

// podsToTry lists the lot of every waiting pod. It is nil if there are too many pods, or if a rule beyond
// size and place concerns one of them.
func (p *packer) podsToTry() []LotIndex {
	if n := p.countLeft(); n == 0 || n > fewToTry || p.style != Guided {
		return nil
	}
	for pool, asked := range p.pools {
		if asked && (len(p.limits[pool]) > 0 || len(p.minimums[pool]) > 0) {
			return nil
		}
	}
	var pods []LotIndex
	for at := range LotIndex(len(p.lots)) {
		for range p.lots[at].Count {
			if !p.lots[at].free || p.choosy(at) {
				return nil
			}
			pods = append(pods, at)
		}
	}
	return pods
}

func (p *packer) choosy(lot LotIndex) bool {
	for _, places := range p.lots[lot].alternatives {
		if places.Choosy() {
			return true
		}
	}
	return false
}

// cheapestHolding finds the cheapest of the offers that hold a group.
func (p *packer) cheapestHolding(pods []LotIndex, group int) int {
	load := make([]int64, len(p.sp.Dims))
	for i, at := range pods {
		if group>>i&1 == 1 {
			for d, want := range p.lots[at].shape.Need {
				load[d] += want
			}
		}
	}
	for o := range p.offers {
		if offer := &p.offers[o]; !offer.scarce && covers(offer.room, load) && p.allAllowed(offer, pods, group) {
			return o
		}
	}
	return -1
}

func (p *packer) allAllowed(o *offer, pods []LotIndex, group int) bool {
	for i, at := range pods {
		if group>>i&1 == 1 && !o.sites.Has(p.kinds[p.lots[at].kind].site) {
			return false
		}
	}
	return true
}

// build opens the bins of the best grouping and takes them down again as a draft.
func (p *packer) build(pods []LotIndex, last, offers []int) *draft {
	from := len(p.bins)
	for set := len(last) - 1; set > 0; set ^= last[set] {
		o := &p.offers[offers[last[set]]]
		b := p.newBin(o.machine, o.slot)
		for i, at := range pods {
			if last[set]>>i&1 == 0 {
				continue
			}
			if n, alternative := p.most(b, &p.lots[at], 1); n == 1 {
				p.put(b, at, 1, alternative)
			}
		}
		p.open(b)
	}
	return p.takeDown(from)
}
