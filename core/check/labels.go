package check

import (
	"fmt"
	"maps"

	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// Machine finds the type and the offering that an offer of a claim's pool names, or
// nothing.
func Machine(s *snapshot.Snapshot, c *plan.Claim, o plan.Offer) (*catalog.Type, *catalog.Offering) {
	e := &state{s: s}
	pool := e.pool(c.Pool)
	if pool == nil {
		return nil, nil
	}
	return e.find(pool, o)
}

// Labels are those that the claim's node will have if the cloud chooses the offer, as
// this package reads a plan, but for the hostname. Where the machine alone decides
// between several values, the first stands for them.
func Labels(s *snapshot.Snapshot, c *plan.Claim, o plan.Offer) (map[string]string, error) {
	kind, offering := Machine(s, c, o)
	if offering == nil {
		return nil, fmt.Errorf("claim %s: pool %s has no offer %s", c.Name, c.Pool, offerText(o))
	}
	e := &state{s: s}
	made, conflict := e.choice(&node{name: c.Name, claim: c, pool: e.pool(c.Pool), asks: c.Narrowed()}, o, kind, offering)
	if conflict != "" {
		return nil, fmt.Errorf("claim %s: offer %s is excluded: %s", c.Name, offerText(o), conflict)
	}
	labels := maps.Clone(made.labels)
	for key, r := range made.open {
		if value, ok := r.Any(); ok {
			labels[key] = value
		}
	}
	delete(labels, requirement.KeyHostname)
	return labels, nil
}
