package pack

import (
	"cmp"
	"container/heap"
	"slices"

	"tenon/core/bound"
	"tenon/core/model"
)

// construct opens bins for all that is waiting, in several ways, and keeps the cheapest:
// filling by value alone is best where nodes are large and few, diving where patterns
// are small and many, and no scoring is best for every input.
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

// relaxEffort is what the relaxation of all that is waiting may cost.
func (p *packer) relaxEffort(waiting *rows, pods int) int64 {
	times := 1
	if pods > fewPods {
		times = min(max(len(waiting.items)/manyRows, 1), mostTimes)
	}
	return p.effort / relaxPart * int64(times)
}

// ways is in how many ways bins are filled: in all where pods are few, without a dive where
// they are so many that rounding hardly shows.
func (p *packer) ways(pods, rows int) int {
	switch {
	case pods > manyPodsAtOnce:
		return 1
	case pods > fewPods || rows > manyRows:
		return 2
	}
	return 2 * len(scorings)
}

// bestDraft fills new bins in some ways, up to two in any case, until the steps are spent.
func (p *packer) bestDraft(r relaxation, ways int, stop int64) *draft {
	from := len(p.bins)
	var best *draft
	for i := range ways {
		if i >= 2 && p.steps >= stop {
			break
		}
		if i%2 == 1 && r.Relaxed > 0 && float64(best.cost) > farOff*float64(r.Relaxed) {
			continue // rules that the relaxation does not know decide the price
		}
		p.scoring = scorings[i/2]
		p.openWhole(r)
		if i%2 == 1 {
			p.dive()
		}
		p.fillRest()
		d := p.takeDown(from)
		if best == nil || d.better(best) {
			best = d
		}
	}
	p.scoring = scorings[0]
	return best
}

// dive solves the relaxation of what is left again and again, and opens bins by its
// patterns: those that are used in whole or, when there are none, the one used most.
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
	for k := range p.kinds {
		p.kinds[k].value = p.kinds[k].worth
	}
}

// draft is bins that were taken down again, with what was on them.
type draft struct {
	bins     []*bin
	contents [][]taken
	cost     model.Money
	left     int
}

func (d *draft) better(o *draft) bool {
	return cmp.Or(cmp.Compare(d.left, o.left), cmp.Compare(d.cost, o.cost), cmp.Compare(len(d.bins), len(o.bins))) < 0
}

// takeDown closes the bins from a position on.
func (p *packer) takeDown(from int) *draft {
	d := &draft{left: p.countLeft()}
	for _, b := range p.bins[from:] {
		d.bins = append(d.bins, b)
		d.contents = append(d.contents, b.content)
		d.cost += b.price
		p.unload(b)
		p.release(b)
	}
	p.bins = p.bins[:from]
	return d
}

// putUp opens the bins of a draft as they were.
func (p *packer) putUp(d *draft) {
	for i, b := range d.bins {
		again := p.newBin(b.machine, b.slot)
		again.sealed = b.sealed
		for _, t := range d.contents[i] {
			p.put(again, t.lot, t.n, t.alternative)
		}
		p.open(again)
	}
}

// openWhole opens patterns as often as they are used in whole, dear ones first.
func (p *packer) openWhole(r relaxation) int {
	patterns := slices.Clone(r.Patterns)
	slices.SortStableFunc(patterns, func(a, b bound.Pattern) int {
		return cmp.Compare(r.offers[b.Bin].price, r.offers[a.Bin].price)
	})
	total := 0
	for _, pattern := range patterns {
		for n := int(pattern.Amount + 1e-6); n > 0; {
			opened := p.openPattern(&r.offers[pattern.Bin], pattern, n)
			if opened == 0 {
				break
			}
			n -= opened
			total += opened
		}
	}
	return total
}

// openMost opens the pattern that is used most once, the larger of equals.
func (p *packer) openMost(r relaxation) int {
	if len(r.Patterns) == 0 {
		return 0
	}
	most := slices.MaxFunc(r.Patterns, func(a, b bound.Pattern) int {
		return cmp.Or(cmp.Compare(a.Amount, b.Amount), cmp.Compare(r.offers[a.Bin].price, r.offers[b.Bin].price))
	})
	return p.openPattern(&r.offers[most.Bin], most, 1)
}

// openPattern opens a bin with the pods of a pattern, and up to n-1 copies of it where
// its pods are free to be copied. It returns how many were opened.
func (p *packer) openPattern(o *offer, pattern bound.Pattern, n int) int {
	slot := p.busiestSlot(o, pattern)
	if slot < 0 || !p.available(o.machine, slot) {
		return 0
	}
	b := p.newBin(o.machine, slot)
	for _, share := range pattern.Counts {
		p.putItem(b, int(share.Item), int(share.Count))
	}
	if len(b.content) == 0 {
		return 0
	}
	p.fill(b, p.sitesOf(b))
	b = p.shrink(b)
	p.open(b)
	return 1 + p.copies(b, n-1)
}

// busiestSlot is the slot, of those at the offer's price, where most of the pattern's
// pods are waiting.
func (p *packer) busiestSlot(o *offer, pattern bound.Pattern) int {
	m := &p.sp.Machines[o.machine]
	best, bestWaiting := -1, 0
	for s := range m.Slots.All {
		if p.cost(o.machine, s) > o.price {
			continue
		}
		waiting := 0
		for _, share := range pattern.Counts {
			for k := range p.kinds {
				kind := &p.kinds[k]
				if kind.item == int(share.Item) && kind.left > 0 && p.sites[kind.site].allows(o.machine, s) {
					waiting += min(kind.left, int(share.Count)*1000)
				}
			}
		}
		if waiting > bestWaiting {
			best, bestWaiting = s, waiting
		}
	}
	return best
}

// putItem places n pods of an item of the relaxation, of any kind.
func (p *packer) putItem(b *bin, item, n int) {
	for k := range p.kinds {
		kind := &p.kinds[k]
		if n == 0 {
			return
		}
		if kind.item != item || kind.left == 0 || b.host < 0 && !p.sites[kind.site].allows(b.machine, b.slot) {
			continue
		}
		n -= p.putKind(b, k, min(n, kind.left))
	}
}

// copies opens up to n bins like b, while its lots last. Pods that meet rules on their
// node are never copied: each bin needs its own choice.
func (p *packer) copies(b *bin, n int) int {
	each := map[int]int{} // a lot may be there by several alternatives
	for _, t := range b.content {
		if !p.lots[t.lot].free {
			return 0
		}
		each[t.lot] += t.n
		n = min(n, p.lots[t.lot].Count/each[t.lot])
	}
	opened := 0
	for ; opened < n && p.available(b.machine, b.slot); opened++ {
		c := p.newBin(b.machine, b.slot)
		for _, t := range b.content {
			p.put(c, t.lot, t.n, t.alternative)
		}
		p.open(c)
	}
	return opened
}

// fillRest opens bins one by one, each time the one that brings most value for its
// price, until every pod that can be placed is placed.
func (p *packer) fillRest() {
	if p.choice != nil {
		p.fillFrom(p.choice)
		return
	}
	p.fillFrom(p.all())
}

// all are the numbers of every offer.
func (p *packer) all() []int {
	out := make([]int, len(p.offers))
	for i := range out {
		out[i] = i
	}
	return out
}

func (p *packer) fillFrom(offers []int) {
	q := p.queue(offers)
	for q.Len() > 0 {
		top := &q.list[0]
		if top.round != q.round { // something was placed since it was judged
			top.gain = p.judge(top.offer, q.kinds)
			top.round = q.round
			if top.gain == 0 {
				heap.Pop(q)
			} else {
				heap.Fix(q, 0)
			}
			continue
		}
		if !p.openOffer(top.offer) {
			heap.Pop(q)
		}
		q.round++
	}
}

// openOffer fills a new bin and keeps it in the cheapest machine that will do.
func (p *packer) openOffer(o *offer) bool {
	if !p.offered(o) {
		return false
	}
	b := p.newBin(o.machine, o.slot)
	p.fill(b, o.sites)
	if len(b.content) == 0 {
		return false
	}
	b = p.shrink(b)
	p.open(b)
	p.copies(b, 1<<30)
	return true
}

// judged is an offer with what it would bring, as last seen.
type judged struct {
	offer *offer
	gain  float64
	round int
}

type judgedQueue struct {
	list  []judged
	kinds []int // of the pods that were waiting in the beginning
	round int
}

func (q *judgedQueue) Len() int { return len(q.list) }
func (q *judgedQueue) Less(i, j int) bool {
	a, b := &q.list[i], &q.list[j]
	if a.gain != b.gain {
		return a.gain > b.gain
	}
	return a.offer.compare(b.offer) < 0
}
func (q *judgedQueue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *judgedQueue) Push(x any)    { q.list = append(q.list, x.(judged)) }

// Pop drops the last; its result is not used.
func (q *judgedQueue) Pop() any {
	q.list = q.list[:len(q.list)-1]
	return nil
}

// queue judges every offer once. Since fewer pods are left after each bin, no offer
// brings more later than it did before: a stale judgement is an upper bound.
func (p *packer) queue(offers []int) *judgedQueue {
	q := &judgedQueue{list: make([]judged, 0, len(offers)), kinds: slices.Clone(p.waitingKinds())}
	if !p.waiting() {
		return q
	}
	for _, i := range offers {
		if gain := p.judge(&p.offers[i], q.kinds); gain > 0 {
			q.list = append(q.list, judged{offer: &p.offers[i], gain: gain})
		}
	}
	heap.Init(q)
	return q
}

// judge estimates the value that a bin of the offer would hold of some kinds, for its price.
// It looks at sizes and at the relaxation's groups, not at rules between single pods.
func (p *packer) judge(o *offer, among []int) float64 {
	if !p.offered(o) {
		return 0
	}
	s, price := &p.scratch, float64(max(o.price, 1))
	s.room = append(s.room[:0], o.room...)
	s.caps = append(s.caps[:0], p.groups.caps...)
	t := estimate{p: p, room: s.room, caps: s.caps}
	return t.run(among, o.sites, price) / price
}
