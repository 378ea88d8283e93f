package pack

import (
	"cmp"
	"slices"

	"tenon/core/bitset"
	"tenon/core/model"
	"tenon/core/snapshot"
)

// offer is a machine in a slot that can be opened.
type offer struct {
	pool          snapshot.PoolIndex
	machine, slot int
	price         model.Money
	room          []int64
	sites         bitset.Set // that may go there
	// A scarce offer comes from a reservation that can run out, so it cannot replace others.
	scarce bool
}

// replaces reports whether o makes another offer superfluous that has no more room and is open to
// no more sites. If o's pool has limits, o must not take more of them, because a dearer offer may
// be the one that still fits. A pool with a minimum of values may refuse what another pool
// accepts.
func (p *packer) replaces(o, other *offer) bool {
	if o.scarce || o.price > other.price {
		return false
	}
	if o.pool != other.pool && len(p.minimums[o.pool]) > 0 {
		return false
	}
	limits := p.limits[o.pool]
	return len(limits) == 0 || o.pool == other.pool && limits.noMore(p.sp.Machines[o.machine].Capacity, p.sp.Machines[other.machine].Capacity)
}

// judgeOffers lists the offers that are worth opening for the sites. It leaves out an offer if
// another is at least as large, at most as dear, and open to at least the same sites.
func (p *packer) judgeOffers(sites []site) []offer {
	groups := p.offersBySites(sites)
	for i := range groups {
		groups[i].offers = p.undominated(groups[i].offers)
	}
	var out []offer
	for i, g := range groups {
		for o := range g.offers {
			if !p.beatenElsewhere(&g.offers[o], groups, i) {
				out = append(out, g.offers[o])
			}
		}
	}
	p.cache.giveBack(groups)
	slices.SortFunc(out, compareOffers)
	return out
}

// beatenElsewhere reports whether an offer is superfluous because of one that is open to
// more sites.
func (p *packer) beatenElsewhere(o *offer, groups []offerGroup, own int) bool {
	for i := range groups {
		if i != own && o.sites.Within(groups[i].sites) && p.beaten(o, groups[i].offers) {
			return true
		}
	}
	return false
}

func compareOffers(a, b offer) int { return a.compare(&b) }

// compare orders offers by price.
func (o *offer) compare(b *offer) int {
	if order := cmp.Compare(o.price, b.price); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(o.machine, b.machine), cmp.Compare(o.slot, b.slot))
}

type offerGroup struct {
	sites  bitset.Set
	offers []offer
}

// offersBySites groups the offers by the sites that may go there. Of a machine's slots that are
// open to the same sites, only the cheapest counts.
func (p *packer) offersBySites(sites []site) []offerGroup {
	var groups []offerGroup
	index := map[string]int{}
	var own []offer
	allowed := bitset.New(len(sites))
	for m := range p.sp.Machines {
		machine := &p.sp.Machines[m]
		if !p.openable(m) {
			continue
		}
		own = own[:0]
		for s := range machine.Slots.All {
			clear(allowed)
			for i := range sites {
				if sites[i].allows(m, s) {
					allowed.Put(i)
				}
			}
			if !allowed.Empty() && p.inStock(m, s) {
				own = p.keepCheapest(own, offer{machine.Pool, m, s, p.cost(m, s), machine.Room, allowed, machine.Stock[s] >= 0})
			}
		}
		for _, o := range own {
			key := wordsKey(o.sites)
			if _, ok := index[key]; !ok {
				index[key] = len(groups)
				groups = append(groups, offerGroup{sites: o.sites, offers: p.cache.list()})
			}
			g := &groups[index[key]]
			g.offers = append(g.offers, o)
		}
	}
	return groups
}

// keepCheapest adds an offer of the same machine unless a cheaper one serves all its
// sites, and drops those that it replaces.
func (p *packer) keepCheapest(own []offer, o offer) []offer {
	for i := range own {
		if p.replaces(&own[i], &o) && o.sites.Within(own[i].sites) {
			return own
		}
	}
	own = slices.DeleteFunc(own, func(have offer) bool { return p.replaces(&o, &have) && have.sites.Within(o.sites) })
	o.sites = o.sites.Clone() // the caller goes on to use its own
	return append(own, o)
}

func wordsKey(s bitset.Set) string {
	b := make([]byte, 0, 8*len(s))
	for _, w := range s {
		for i := 0; i < 64; i += 8 {
			b = append(b, byte(w>>i))
		}
	}
	return string(b)
}

// undominated keeps the offers that no other offer beats by being at least as large and at most as
// dear. It takes over the list.
func (p *packer) undominated(offers []offer) []offer {
	slices.SortFunc(offers, compareOffers)
	out := offers[:0]
	for _, o := range offers {
		if !p.beaten(&o, out) {
			out = append(out, o)
		}
	}
	return out
}

// beaten reports whether one of some offers makes o superfluous.
func (p *packer) beaten(o *offer, by []offer) bool {
	for i := range by {
		if covers(by[i].room, o.room) && p.replaces(&by[i], o) {
			return true
		}
	}
	return false
}

func covers(large, small []int64) bool {
	for i := range small {
		if large[i] < small[i] {
			return false
		}
	}
	return true
}

// cost returns what choosing a machine costs: its price or, in the thrifty style, the share that
// it takes of what its pool's limits leave, in millionths.
func (p *packer) cost(m, slot int) model.Money {
	machine := &p.sp.Machines[m]
	if p.surcharges != nil {
		return max(machine.Price[slot]+p.surchargeOf(machine.Pool, machine.Capacity), 0)
	}
	if p.style != Thrifty || len(p.total[machine.Pool]) == 0 {
		return machine.Price[slot]
	}
	left := p.total[machine.Pool]
	var share model.Money
	for _, a := range left {
		if a.Value > 0 {
			share += model.Money(float64(Share(machine.Capacity, a.Name)) / float64(a.Value) * float64(model.Unit))
		}
	}
	return max(share, 1)
}

// openable reports whether the machine's pool is asked now, and its limits leave room.
func (p *packer) openable(m int) bool {
	machine := &p.sp.Machines[m]
	return p.pools[machine.Pool] && p.limits[machine.Pool].allows(machine.Capacity)
}

// offered is available for the offer's own slot; it seldom needs to read the machine.
func (p *packer) offered(o *offer) bool {
	return p.pools[o.pool] && (len(p.limits[o.pool]) == 0 || p.openable(o.machine)) && (!o.scarce || p.inStock(o.machine, o.slot))
}

// inStock reports whether the slot's reservation, if it is one, still has an instance.
func (p *packer) inStock(m, slot int) bool {
	stock := p.sp.Machines[m].Stock[slot]
	return stock < 0 || p.reserved[p.sp.Slots[slot].Reservation] < stock
}
