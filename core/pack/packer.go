package pack

import (
	"slices"

	"tenon/core/feasible"
	"tenon/core/model"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// Problem says which pods to pack, and how.
type Problem struct {
	Set  *shape.Set
	Lots []Lot
	// Tiers are pools, by index, that may be asked for new nodes: the packer asks all pools of one
	// tier before any of the next.
	Tiers [][]snapshot.PoolIndex
	// Limits is what each pool may still launch, by index. The last ones of each are those of the cluster, if the snapshot's settings
	// have any: a node of one pool takes its share of them from all pools.
	Limits [][]model.Amount
	Style  Style
	// Effort is how many steps may be spent.
	Effort int64
	// OfferCache may be shared by packings in spaces that sell the same.
	OfferCache *OfferCache
}

// Style is the way of packing.
type Style int

const (
	// Guided follows the relaxation.
	Guided Style = iota
	// Thrifty is Guided with limits instead of money as the price, for pools whose limits do not
	// suffice for all pods.
	Thrifty
	// Greedy is the baseline: large pods first, first fit, each new node as large as
	// its pods allow.
	Greedy
)

// Load is a number of a lot's pods on a node, and the places by which they may be there.
type Load struct {
	Lot    LotIndex
	Count  int
	Places *feasible.Places
}

// Node is a bin of the result.
type Node struct {
	Host    int // ≥ 0: an existing node
	Machine int
	Slot    int
	Loads   []Load
}

// Result is a packing.
type Result struct {
	// Hosts that took pods, and New nodes.
	Hosts []Node
	New   []Node
	// Price of the new nodes.
	Price model.Money
	Steps int64
}

// Packer is a packing in the making.
type Packer struct{ p *packer }

// New fills the existing nodes and then opens new ones, tier by tier.
func New(pr Problem) *Packer {
	p := newAttempt(pr)
	p.run()
	return &Packer{p}
}

// Add packs more lots, beside those that are packed already.
func (k *Packer) Add(lots []Lot) {
	p := k.p
	p.addLots(lots)
	for _, b := range p.bins {
		p.fill(b, p.sitesOf(b))
	}
	p.dependentOnHosts()
	p.fillHosts()
	p.eachTier(func() {
		p.placeDependent(p.offers, false)
		p.fillRest()
	})
}

// TopUp gives pods without a place the room that is left on nodes that are planned.
func (k *Packer) TopUp() {
	for _, b := range slices.Concat(k.p.hosts, k.p.bins) {
		if !k.p.waiting() {
			return
		}
		k.p.fill(b, k.p.sitesOf(b))
	}
}

// Close takes new nodes down. Their pods are without a place again. It reports whether there were any.
func (k *Packer) Close(which func(Node) bool) bool {
	p := k.p
	before := len(p.bins)
	p.bins = slices.DeleteFunc(p.bins, func(b *bin) bool {
		if !which(p.node(b)) {
			return false
		}
		p.unload(b)
		p.release(b)
		return true
	})
	return len(p.bins) < before
}

// Evict takes all pods of a lot off their nodes.
func (k *Packer) Evict(lot LotIndex) { k.p.evict(lot) }

// Drop gives up the pods of a lot that have no place: they are not tried again.
func (k *Packer) Drop(lot LotIndex) {
	l := &k.p.lots[lot]
	k.p.kinds[l.kind].left -= l.Count
	l.dropped += l.Count
	l.Count = 0
	clear(k.p.first)
}

// Placed returns how many of a lot's pods have a place.
func (k *Packer) Placed(lot LotIndex) int {
	l := &k.p.lots[lot]
	return l.given - l.dropped - l.Count
}

// Left returns how many of a lot's pods have no place.
func (k *Packer) Left(lot LotIndex) int { return k.p.lots[lot].Count }

// Price returns the present price of the new nodes.
func (k *Packer) Price() model.Money { return k.Result().Price }

// Bound is the relaxation's proven bound on the price, if the relaxation was solved for all pods over all
// pools; otherwise it is absent. If it is far from the price of the relaxation's patterns, up to the given
// number of steps is spent on raising it.
func (k *Packer) Bound(steps int64) (price model.Money, spent int64, ok bool) {
	p := k.p
	given, placed := 0, 0
	for i := range LotIndex(len(p.lots)) {
		given += p.lots[i].given
		placed += k.Placed(i)
	}
	if p.style != Guided || len(p.tiers) != 1 || placed != given {
		return 0, 0, false
	}
	if p.wholePods == given {
		return model.Money(p.whole.Bound), 0, true
	}
	if p.proven != given || slices.ContainsFunc(p.hosts, func(b *bin) bool { return len(b.content) > 0 }) {
		return 0, 0, false
	}
	if price := k.Price(); price > model.Money(float64(p.proof.Bound)*closelyProven) &&
		4*(p.proof.Relaxed-p.proof.Bound) > int64(price)-p.proof.Bound { // not the rounding's gap
		spent = p.proof.Sharpen(steps)
	}
	return model.Money(p.proof.Bound), spent, true
}

// Result hands the nodes over.
func (k *Packer) Result() Result {
	p := k.p
	r := Result{Steps: p.steps}
	for _, b := range p.hosts {
		if len(b.content) > 0 {
			r.Hosts = append(r.Hosts, p.node(b))
		}
	}
	r.New = slices.Grow(r.New, len(p.bins))
	for _, b := range p.bins {
		r.New = append(r.New, p.node(b))
		r.Price += p.sp.Machines[b.machine].Price[b.slot]
	}
	return r
}

func (p *packer) node(b *bin) Node {
	n := Node{Host: b.host, Machine: b.machine, Slot: b.slot, Loads: make([]Load, 0, len(b.content))}
	for _, t := range b.content {
		n.Loads = append(n.Loads, Load{Lot: t.lot, Count: t.n, Places: p.lots[t.lot].alternatives[t.alternative]})
	}
	return n
}
