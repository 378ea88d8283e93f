package disrupt

import (
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// manySpotTypes is how many types a spot node must be able to become when one takes the place of another:
// otherwise each move would lead to the cheapest capacity pool, which is often the next one to be
// interrupted.
const manySpotTypes = 15

// cheaper narrows the claims of a proposal so that the savings justify the evictions with every offer that
// the cloud may launch, or tells why that is impossible. Claims share the remaining margin in proportion to
// their prices.
func (x *search) cheaper(p *proposal) (reason.Cause, bool) {
	if len(p.answer.Claims) == 0 {
		return reason.Cause{Code: reason.NotCheaper}, p.savings() > 0
	}
	most := float64(p.price) - p.worth
	if p.gain() <= 0 || p.savings() <= 0 {
		return reason.Cause{Code: reason.NotCheaper}, false
	}
	factor := min(most/float64(p.answer.Price), float64(p.price-1)/float64(p.answer.Price))
	onSpot, spot := x.onSpot(p.nodes), 0
	spotOnly := onSpot == len(p.nodes)
	for i := range p.answer.Claims {
		c := &p.answer.Claims[i]
		if c.Offer.CapacityType == catalog.Spot {
			spot++
		}
		// Without the gate, of nodes of which some are spot, each spot node that comes replaces one that is not.
		if onSpot > 0 && spot > len(p.nodes)-onSpot && !x.s.Settings.SpotToSpot {
			return reason.Cause{Code: reason.SpotToSpotDisabled}, false
		}
		x.narrow(c, model.Money(float64(c.Offer.Price)*factor))
		if cause, ok := x.varied(c); !ok {
			return cause, false
		}
		// If every node gets a replacement, the proposal equals as many single replacements.
		if spotOnly && c.Offer.CapacityType == catalog.Spot && len(p.answer.Claims) >= len(p.nodes) {
			if n := x.cut(c); n < manySpotTypes {
				return reason.Cause{Code: reason.SpotToSpotFewTypes, Have: int64(n), Want: manySpotTypes}, false
			}
		}
	}
	return reason.Cause{}, true
}

// onSpot is how many of the nodes are spot.
func (x *search) onSpot(nodes []snapshot.NodeIndex) int {
	spot := 0
	for _, n := range nodes {
		if x.nodes[n].CapacityType == catalog.Spot {
			spot++
		}
	}
	return spot
}

// narrow leaves a claim the offers of the planned capacity type, of types of which no
// offer that it admits is dearer than the ceiling: it names types and zones, no pairs.
func (x *search) narrow(c *plan.Claim, ceiling model.Money) {
	worst := map[string]model.Money{}
	for o := range c.Alternatives.All() {
		if o.CapacityType == c.Offer.CapacityType {
			worst[o.InstanceType] = max(worst[o.InstanceType], o.Price)
		}
	}
	own := worst[c.Offer.InstanceType] > ceiling // then only the planned offer will do
	c.Alternatives = c.Alternatives.Where(func(o plan.Offer) bool {
		return !own && o.CapacityType == c.Offer.CapacityType && worst[o.InstanceType] <= ceiling
	})
	if own {
		c.Requirements = c.Requirements.With(requirement.New(requirement.KeyZone, requirement.In, c.Offer.Zone))
	}
}

// varied reports whether the claim still leaves as much choice as its pool asks for.
func (x *search) varied(c *plan.Claim) (reason.Cause, bool) {
	variety := requirement.NewVariety(c.Requirements)
	for _, t := range x.typesOf(c) {
		variety.Add(t.Requirements)
	}
	if short := variety.Shortfalls(); len(short) > 0 {
		return reason.Cause{Code: reason.TooFewCheaperTypes, Where: short[0].Key, Have: int64(short[0].Have), Want: int64(short[0].Want)}, false
	}
	return reason.Cause{}, true
}

// typesOf are the types that the claim names.
func (x *search) typesOf(c *plan.Claim) []*catalog.Type {
	named := map[string]bool{c.Offer.InstanceType: true}
	for o := range c.Alternatives.All() {
		named[o.InstanceType] = true
	}
	types := x.s.Catalogs[x.s.Pools[x.poolAt[c.Pool]].Catalog].Types
	var out []*catalog.Type
	for i := range types {
		if named[types[i].Name] {
			out = append(out, &types[i])
		}
	}
	return out
}

// cut leaves a claim its cheapest types, as many as a spot node needs or as its pool asks
// for, and tells how many it has.
func (x *search) cut(c *plan.Claim) int {
	variety := requirement.NewVariety(c.Requirements)
	declared := map[string]requirement.Set{}
	for _, t := range x.typesOf(c) {
		declared[t.Name] = t.Requirements
	}
	kept := map[string]bool{c.Offer.InstanceType: true}
	variety.Add(declared[c.Offer.InstanceType])
	for o := range c.Alternatives.All() {
		if !kept[o.InstanceType] && (len(kept) < manySpotTypes || !variety.Met()) {
			kept[o.InstanceType] = true
			variety.Add(declared[o.InstanceType])
		}
	}
	c.Alternatives = c.Alternatives.Where(func(o plan.Offer) bool { return kept[o.InstanceType] })
	return len(kept)
}
