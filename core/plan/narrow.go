package plan

import (
	"tenon/core/order"
	"tenon/core/requirement"
)

// Narrowed are the claim's requirements with the instance types and the capacity types
// that its offers leave. They are written out on demand: most claims of a large plan
// name hundreds of types. A replica and a node of a group are not narrowed.
func (c *Claim) Narrowed() requirement.Set {
	if c.Replica || c.Group != "" {
		return c.Requirements
	}
	types := map[string]bool{c.Offer.InstanceType: true}
	capacityTypes := map[string]bool{c.Offer.CapacityType: true}
	for o := range c.Alternatives.All() {
		types[o.InstanceType] = true
		capacityTypes[o.CapacityType] = true
	}
	least := c.Requirements.Get(requirement.KeyInstanceType).MinValues()
	named := requirement.New(requirement.KeyInstanceType, requirement.In, order.Keys(types)...).WithMinValues(least)
	return c.Requirements.Replaced(named).
		With(requirement.New(requirement.KeyCapacityType, requirement.In, order.Keys(capacityTypes)...))
}
