package check

import (
	"slices"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/snapshot"
)

// checkCeilings: while the cheapest offering that would hold a claim's pods is out of stock, the node costs
// no more than the pool's multiple of that offering's price. Claims for buffers have no pods and are not
// checked.
func checkCeilings(e *state, f *finding) {
	for _, n := range e.nodes {
		if n.claim == nil || n.claim.Spare || n.pool.PriceCeiling == 0 {
			continue
		}
		usual, inStock := e.usual(n)
		if most := int64(usual) * n.pool.PriceCeiling / 100; usual > 0 && !inStock && int64(n.claim.Offer.Price) > most {
			f.note(Violation{Rule: Ceiling, Node: n.name, Where: n.pool.Name, Have: int64(n.claim.Offer.Price), Want: most})
		}
	}
}

// usual is the least price, in stock or out of stock, for which a node of the pool could hold the claim's
// pods, and whether it is in stock. Reservations are already paid for and do not count. If rules between
// pods or preferences chose zones and types, the claim's requirements say which.
func (e *state) usual(n *node) (least model.Money, inStock bool) {
	probe := &node{name: n.name, claim: &plan.Claim{}, pool: n.pool, taints: n.pool.Taints, placed: n.placed}
	if slices.ContainsFunc(n.placed, func(pod snapshot.PodIndex) bool { return e.hasPodRules(pod) || e.hasPreferences(pod) }) {
		probe.asks = n.claim.Requirements
	}
	types := e.s.Catalogs[n.pool.Catalog].Types
	for i := range types {
		for j := range types[i].Offerings {
			offering := &types[i].Offerings[j]
			o := offerOf(&types[i], offering, n.pool)
			dearer := least > 0 && (o.Price > least || o.Price == least && inStock)
			if offering.CapacityType == catalog.Reserved || offering.Price <= 0 || dearer {
				continue
			}
			made, conflict := e.choice(probe, o, &types[i], offering)
			made.listed = true
			probe.choices = []choice{made}
			if conflict == "" && e.isSound(probe) {
				least, inStock = o.Price, inStock && o.Price == least || offering.Available
			}
		}
	}
	return least, inStock
}
