package cloud

import (
	"cmp"
	"slices"

	"tenon/core/catalog"
	"tenon/core/requirement"
)

// Candidate is one way to buy what a claim asks for.
type Candidate struct {
	Type     *catalog.Type
	Offering *catalog.Offering
}

// Candidates returns the available offerings of a catalogue that a claim allows and that hold what it
// requests: cheapest first, in an order that depends on nothing else.
func Candidates(claim *Claim, c *catalog.Catalog) []Candidate {
	return slices.DeleteFunc(Suitable(claim, c), func(c Candidate) bool { return !c.Offering.Available })
}

// Suitable is Candidates with the unavailable offerings as well, so that a provider can say which offerings
// it would have used.
func Suitable(claim *Claim, c *catalog.Catalog) []Candidate {
	var found []Candidate
	for t := range c.Matching(claim.Requirements) {
		for j := range t.Offerings {
			if candidate := (Candidate{t, &t.Offerings[j]}); candidate.suits(claim) {
				found = append(found, candidate)
			}
		}
	}
	slices.SortFunc(found, Candidate.compare)
	return found
}

// suits checks the claim's keys, because there are thousands of offerings and few keys in a claim. It ignores
// keys that the machine does not define: they belong to the pool.
func (c Candidate) suits(claim *Claim) bool {
	for asked := range claim.Requirements.All() {
		switch key := asked.Key(); {
		case key == requirement.KeyZone && !asked.Has(c.Offering.Zone),
			key == requirement.KeyCapacityType && !asked.Has(c.Offering.CapacityType),
			c.Offering.Extra.Has(key) && !c.Offering.Extra.Get(key).Compatible(asked):
			return false
		}
	}
	return claim.Requests.Fits(c.Type.Allocatable(c.Offering))
}

func (c Candidate) compare(o Candidate) int {
	first := cmp.Or(cmp.Compare(c.Offering.Price, o.Offering.Price), c.Offer().Compare(o.Offer()))
	if first != 0 {
		return first
	}
	// They differ only in their extra labels, which take longer to compare.
	return cmp.Compare(c.Offering.Extra.Key(), o.Offering.Extra.Key())
}

// Offer is the name of the offering.
func (c Candidate) Offer() Offer {
	return Offer{
		InstanceType: c.Type.Name,
		Zone:         c.Offering.Zone,
		CapacityType: c.Offering.CapacityType,
		Reservation:  c.Offering.ReservationID,
	}
}

// face returns the labels that a node bought this way can have: the offering's values replace the type's.
func (c Candidate) face() requirement.Set {
	face := c.Type.Requirements.
		Replaced(requirement.New(requirement.KeyZone, requirement.In, c.Offering.Zone)).
		Replaced(requirement.New(requirement.KeyCapacityType, requirement.In, c.Offering.CapacityType))
	for r := range c.Offering.Extra.All() {
		face = face.Replaced(r)
	}
	return face
}

// Labels returns the labels that come with the machine. If both the machine and the claim allow several
// values, the label has the first value that both allow.
func (c Candidate) Labels(claim *Claim) map[string]string {
	labels := map[string]string{}
	for r := range c.face().All() {
		if claim.Requirements.Has(r.Key()) {
			r = r.Intersect(claim.Requirements.Get(r.Key()))
		}
		if r.Complement() {
			continue // the value is not determined
		}
		if value, found := r.Any(); found {
			labels[r.Key()] = value
		}
	}
	return labels
}

// Shortfalls returns the claim's minimums that the types among the candidates do not meet; empty if they meet
// all.
func Shortfalls(claim *Claim, candidates []Candidate) requirement.Shortfalls {
	variety := requirement.NewVariety(claim.Requirements)
	for _, c := range candidates {
		variety.Add(c.Type.Requirements)
	}
	return variety.Shortfalls()
}
