package pack

import (
	"container/heap"
	"slices"
)

// fillRest opens bins one by one, each time the one that brings most value for its
// price, until every pod that can be placed is placed.
func (p *packer) fillRest() {
	if p.choice != nil {
		p.fillFrom(p.choice)
		return
	}
	p.fillFrom(p.all())
}

// all returns the numbers of all offers.
func (p *packer) all() []int {
	out := make([]int, len(p.offers))
	for i := range out {
		out[i] = i
	}
	return out
}

func (p *packer) fillFrom(offers []int) {
	for again := true; again; {
		q, before := p.queue(offers), len(p.bins)
		p.openFrom(q)
		again = q.some && len(p.bins) > before
	}
}

// openFrom opens bins of the offers in the queue. Where these were judged by some of the kinds that wait, it ends
// when a quarter of these kinds has no pods left.
func (p *packer) openFrom(q *judgedQueue) {
	for q.Len() > 0 {
		if q.some && 4*p.countWaiting(q.kinds) < 3*len(q.kinds) {
			return
		}
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
	kinds []kindIndex // of the pods that were waiting in the beginning, or some of these kinds
	some  bool
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

// Pop drops the last offer; its result is not used.
func (q *judgedQueue) Pop() any {
	q.list = q.list[:len(q.list)-1]
	return nil
}

// queue judges every offer once. After each bin fewer pods are left, so the value of an offer
// never grows: an old judgement is an upper bound.
func (p *packer) queue(offers []int) *judgedQueue {
	q := &judgedQueue{list: make([]judged, 0, len(offers)), kinds: slices.Clone(p.waitingKinds())}
	if !p.waiting() {
		return q
	}
	if len(q.kinds) > manyKinds {
		q.kinds, q.some = p.someKinds(q.kinds), true
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
func (p *packer) judge(o *offer, among []kindIndex) float64 {
	if !p.offered(o) {
		return 0
	}
	s, price := &p.scratch, float64(max(o.price, 1))
	s.room = append(s.room[:0], o.room...)
	s.caps = append(s.caps[:0], p.groups.caps...)
	t := estimate{p: p, room: s.room, caps: s.caps}
	return t.run(among, o.sites, price) / price
}
