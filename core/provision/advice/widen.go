package advice

import (
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/pack"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// widen lets the pool have one more value of a label on which it insists: bigger types,
// another zone, on-demand beside spot. With a key only that label is looked at.
func (b *proposer) widen(only string) {
	for r := range b.pool.Requirements.All() {
		if only != "" && r.Key() != only || !b.mayWiden(r.Key()) {
			continue
		}
		found := b.k.findWithoutKey(b, r)
		if len(found) == 0 {
			continue
		}
		value := found[0].value
		p := b.base(sizeLine, reason.Remedy{Change: reason.WidenPool, Where: r.Key(), From: r.String(), To: value})
		p.in.Requirements = b.pool.Requirements.Replaced(wider(r, value))
		for _, f := range found {
			if f.value == value {
				p.types = append(p.types, f.of)
			}
		}
		if asksForVariety(p.in.Requirements) {
			for _, f := range b.k.machines(&p) { // the pool's own types count for variety too
				p.types = append(p.types, f.of)
			}
		}
		p.price = found[0].price
		b.out = append(b.out, p)
	}
}

// wider is r with one more value. What r excludes is not told apart where it is no list: the
// simulation has no types of other values anyway.
func wider(r requirement.Requirement, value string) requirement.Requirement {
	if r.Complement() {
		return requirement.New(r.Key(), requirement.Exists).WithMinValues(r.MinValues())
	}
	return requirement.New(r.Key(), requirement.In, append(r.Values(), value)...).WithMinValues(r.MinValues())
}

// mayWiden leaves out labels that the pool gives its nodes: they are not choices among
// instance types.
func (b *proposer) mayWiden(key string) bool {
	_, own := b.pool.Labels[key]
	return !own && key != requirement.KeyNodePool && b.k.d.Snapshot.Settings.WellKnown.Contains(key)
}

// findWithoutKey finds types and slots that would do if the pool asked nothing of the key.
func (k *Adviser) findWithoutKey(b *proposer, r requirement.Requirement) []find {
	bare := b.pool.Requirements.Without(r.Key())
	types := k.typesWithout(b.candidate.pool, r.Key(), bare)
	var found []find
	for i := range b.request.Variant.Alternatives {
		a := &b.request.Variant.Alternatives[i]
		if _, kept := model.Untolerated(b.pool.Taints, a.Tolerations, a.Strict); kept || !bare.Compatible(a.Require, k.d.Snapshot.Settings.WellKnown) {
			continue
		}
		k.Visits -= len(types)
		asked := bare.Intersect(a.Require)
		for _, t := range types {
			kind := &k.d.Snapshot.Catalogs[b.pool.Catalog].Types[t]
			if !b.t.Requests.Fits(kind.Capacity) {
				continue
			}
			k.Visits -= strangerVisits
			if f, ok := k.cheapestOfType(b, kind, asked, r.Key()); ok {
				found = append(found, f)
			}
		}
	}
	return cheapest(found, asksForVariety(bare) || r.MinValues() > 0)
}

// typesWithout lists the types that the pool would gain if it did without the key. What a
// key of offers, such as the zone, would open are more offers of any type.
func (k *Adviser) typesWithout(pool snapshot.PoolIndex, key string, bare requirement.Set) []int {
	question := widening{pool, key}
	if known, ok := k.widened[question]; ok {
		return known
	}
	types := k.d.Snapshot.Catalogs[k.d.Snapshot.Pools[pool].Catalog].Types
	own := k.d.Space.TypesFor(pool, requirement.Set{})
	byOffer := k.d.Space.SlotLabel(key)
	k.Visits -= strangerVisits * len(types)
	var out []int
	for t := range types {
		if (byOffer || !own.Has(t)) && types[t].Requirements.Intersects(bare) {
			out = append(out, t)
		}
	}
	k.widened[question] = out
	return out
}

// cheapestOfType is the cheapest way to buy the type for the pod. Daemons are left for the
// simulation.
func (k *Adviser) cheapestOfType(b *proposer, t *catalog.Type, asked requirement.Set, key string) (find, bool) {
	if !t.Requirements.Intersects(asked) {
		return find{}, false
	}
	best := find{of: t}
	ok := false
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if !o.Available || o.CapacityType == catalog.Reserved || ok && o.Price >= best.price {
			continue
		}
		labels := o.Labels()
		value, known := labels.Get(key).Single()
		if !known {
			value, known = t.Requirements.Get(key).Single()
		}
		if !known || !labels.Intersects(asked) || !b.t.Requests.Fits(t.Allocatable(o)) {
			continue
		}
		if !pack.LimitsAllow(k.pools.Left[b.candidate.pool], t.FullCapacity(o)) {
			continue
		}
		best.price, best.value, ok = o.Price, value, true
	}
	best.price += k.d.Snapshot.Pools[b.candidate.pool].NodePrice
	return best, ok
}
