package pack

import (
	"cmp"
	"slices"

	"tenon/core/bitset"
	"tenon/core/feasible"
)

// fill tops up a bin with the pods that are worth most there, until nothing fits.
//
// It chooses by value per share of what is left of the bin, and so prefers pods that use the
// resources of which the bin has too much. It also prefers large pods: small ones fill the last
// holes.
//
// Of many kinds it looks at a few, another few for each bin, and at all of them once hardly any of the few fit.
func (p *packer) fill(b *bin, sites bitset.Set) {
	kinds := p.waitingKinds()
	if len(kinds) > manyKinds {
		p.fillWith(b, p.someKinds(kinds), sites, lastChoices)
		kinds = p.waitingKinds()
	}
	p.fillWith(b, kinds, sites, 0)
}

// fillWith fills a bin with pods of some kinds, while more than a few of the kinds fit.
func (p *packer) fillWith(b *bin, kinds []kindIndex, sites bitset.Set, few int) {
	p.scratch.filling = p.fitting(p.scratch.filling[:0], kinds, b.room, sites)
	p.appraise(p.scratch.filling, b.room, p.worthOf(b))
	list := candidatesOf(p.scratch.filling)
	for list.count > 0 {
		at := p.choose(&list, b.room)
		if at < 0 || len(list.fit) <= few {
			return
		}
		k := list.fit[at].kind
		n := p.chunk(k, b.room)
		if placed := p.putKind(b, k, n); placed < n || p.kinds[k].left == 0 {
			list.drop(at)
		}
	}
}

// someKinds picks kinds at equal distances in place, others each time.
func (p *packer) someKinds(kinds []kindIndex) []kindIndex {
	step := len(kinds) / fewKinds
	p.picked++
	n := 0
	for i := p.picked % step; i < len(kinds); i += step {
		kinds[n] = kinds[i]
		n++
	}
	return kinds[:n]
}

// candidate is a kind that may be put on a bin while it is filled.
type candidate struct {
	kind kindIndex
	need []int64
	// value of one pod there, and that value's fourth power: see scoring.hopeless.
	value, fourth float64
	// taken is how many an estimate has put there.
	taken int
}

// candidates are those that may still fit. Those that do not fit any more count as looked at, which keeps the
// steps of a search what they were when it looked at them.
type candidates struct {
	fit   []candidate
	count int
}

func candidatesOf(list []candidate) candidates { return candidates{fit: list, count: len(list)} }

// drop takes a candidate out.
func (c *candidates) drop(at int) {
	last := len(c.fit) - 1
	c.fit[at] = c.fit[last]
	c.fit = c.fit[:last]
	c.count--
}

// waitingKinds returns the kinds with pods left. The list is valid until the next call.
func (p *packer) waitingKinds() []kindIndex {
	out := p.scratch.kinds[:0]
	for i := range kindIndex(len(p.kinds)) {
		if p.kinds[i].left > 0 {
			out = append(out, i)
		}
	}
	p.scratch.kinds = out
	return out
}

// countWaiting returns how many of some kinds have pods left.
func (p *packer) countWaiting(kinds []kindIndex) int {
	n := 0
	for _, k := range kinds {
		if p.kinds[k].left > 0 {
			n++
		}
	}
	return n
}

// fitting appends those of the given kinds that have pods left, may be on one of the sites, and
// fit.
func (p *packer) fitting(out []candidate, among []kindIndex, room []int64, sites bitset.Set) []candidate {
	for _, i := range among {
		k := &p.kinds[i]
		if k.left > 0 && sites.Has(k.site) && feasible.Fits(k.need, room) {
			out = append(out, candidate{kind: i, need: k.need})
		}
	}
	p.steps += int64(len(p.kinds))
	return out
}

// appraise says what a pod of each candidate is worth on a bin: partly its value in the
// relaxation, partly its fair share of the bin's price. It returns the fair prices.
func (p *packer) appraise(list []candidate, room []int64, price float64) [maxDims]float64 {
	fair := p.fairPrices(list, room, price)
	for i := range list {
		c := &list[i]
		worth := 0.0
		for d, want := range c.need[:min(len(c.need), maxDims)] {
			worth += float64(float64(want) * fair[d])
		}
		c.value = float64((1-p.scoring.fairness)*p.kinds[c.kind].value) + float64(p.scoring.fairness*worth) + tiny
		square := float64(c.value * c.value)
		c.fourth = float64(square * square)
	}
	return fair
}

// fairPrices shares the bin's price out among its resources by how scarce each is for the pods
// that are left, and returns the price of a unit of each. The relaxation gives no price to a
// resource that is slightly less scarce than another, so following it alone would leave all pods
// that need that resource to the end.
func (p *packer) fairPrices(list []candidate, room []int64, price float64) [maxDims]float64 {
	var demand, out [maxDims]float64
	room = room[:min(len(room), maxDims)]
	for i := range list {
		left := float64(p.kinds[list[i].kind].left)
		for d, want := range list[i].need[:len(room)] {
			demand[d] += float64(float64(want) * left)
		}
	}
	most := 0.0
	for d, r := range room {
		if r > 0 {
			demand[d] /= float64(r)
			most = max(most, demand[d])
		}
	}
	if most == 0 {
		return out
	}
	sum := 0.0
	for d := range room {
		scarcity := demand[d] / most
		scarcity = float64(scarcity * scarcity)
		out[d] = float64(scarcity * scarcity)
		sum += out[d]
	}
	for d, r := range room {
		if r > 0 {
			out[d] = float64(out[d] * (price / sum / float64(r)))
		}
	}
	return out
}

// maxDims is how many resources the choice of pods weighs at most; the packer only checks any
// more.
const maxDims = 8

// chunk returns how many pods of a kind are placed before the packer looks again: one, or a small
// part of what would fill the bin.
func (p *packer) chunk(i kindIndex, room []int64) int {
	k := &p.kinds[i]
	return max(1, min(k.left, mostBySize(k.need, room, k.left)/8))
}

// putKind places up to n pods of a kind, from any of its lots that may come. Lots that bring no
// new rule to the bin come first, because each rule there keeps other pods away.
func (p *packer) putKind(b *bin, i kindIndex, n int) int {
	placed := p.putLots(b, p.kinds[i].lots, n, false)
	if placed < n {
		placed += p.putLots(b, p.kinds[i].lots, n-placed, true)
	}
	return placed
}

func (p *packer) putLots(b *bin, lots []LotIndex, n int, newRules bool) int {
	placed := 0
	for _, at := range lots {
		l := &p.lots[at]
		if l.Count == 0 || b.bringsRule(l) != newRules {
			continue
		}
		if m, alternative := p.most(b, l, min(n-placed, l.Count)); m > 0 {
			p.put(b, at, m, alternative)
			placed += m
		}
		if placed == n {
			break
		}
	}
	p.steps += int64(len(lots))
	return placed
}

// bringsRule reports whether a pod of the lot would put a new cap on the bin.
func (b *bin) bringsRule(l *lot) bool {
	if l.free {
		return false
	}
	for _, c := range l.shape.Rules.HostCaps {
		if t := b.tally(c.Group); !c.Soft && (t == nil || t.limit > c.Max) {
			return true
		}
	}
	return false
}

// spreadCapped first gives existing nodes to pods of which a node may hold only so many
// (anti-affinity, spread by hostname): large pods come first, each on the tightest node that holds
// it. Each of them that finds no existing node forces a new one.
func (p *packer) spreadCapped() {
	var capped []kindIndex
	for k := range kindIndex(len(p.kinds)) {
		if len(p.kinds[k].rows) > 0 && p.kinds[k].left > 0 {
			capped = append(capped, k)
		}
	}
	if len(capped) == 0 {
		return
	}
	slices.SortStableFunc(capped, func(a, b kindIndex) int { return cmp.Compare(p.kinds[b].value, p.kinds[a].value) })
	order := slices.Clone(p.hosts)
	slices.SortStableFunc(order, func(a, b *bin) int {
		return cmp.Or(cmp.Compare(a.room[0], b.room[0]), cmp.Compare(a.room[1], b.room[1]))
	})
	for _, k := range capped {
		for _, b := range order {
			if p.kinds[k].left == 0 {
				break
			}
			if mostBySize(p.kinds[k].need, b.room, 1) == 1 {
				p.putKind(b, k, 1)
			}
		}
	}
}

// worthOf returns what a bin costs. For a node that is paid already it returns what the pods that
// are left would pay on average for as much room.
func (p *packer) worthOf(b *bin) float64 {
	if b.host < 0 {
		return float64(b.price)
	}
	var value, cpu, memory float64
	for i := range p.kinds {
		k := &p.kinds[i]
		value += float64(k.value * float64(k.left))
		cpu += float64(float64(k.need[0]) * float64(k.left))
		memory += float64(float64(k.need[1]) * float64(k.left))
	}
	return float64(value / 2 * (float64(max(b.room[0], 0))/max(cpu, 1) + float64(max(b.room[1], 0))/max(memory, 1)))
}

// anyTier returns the pools of all tiers.
func (p *packer) anyTier() []bool {
	pools := make([]bool, len(p.sp.Snapshot.Pools))
	for _, tier := range p.tiers {
		for _, pool := range tier {
			pools[pool] = true
		}
	}
	return pools
}

// estimateValues gives each kind a value by size until the relaxation knows better: its share of
// an average machine.
func (p *packer) estimateValues() {
	average := make([]float64, len(p.sp.Dims))
	for i := range p.sp.Hosts {
		for d, r := range p.sp.Hosts[i].Room {
			average[d] += float64(max(r, 0))
		}
	}
	for i := range p.kinds {
		k := &p.kinds[i]
		for d, want := range k.need {
			if average[d] > 0 {
				k.value += float64(want) / average[d]
			}
		}
		k.value = float64(k.value * 1e6)
	}
}
