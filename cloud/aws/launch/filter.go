package launch

import (
	"cmp"
	"math"
	"slices"
	"strings"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/aws/instancetype"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// MostTypes is how many types a fleet may choose from.
const MostTypes = 60

// filter keeps the available candidates that the request asks for. They come sorted by price and stay so. An
// empty result means that there is no capacity. (As in Karpenter, but for spotMargin.)
func filter(claim *cloud.Claim, candidates []cloud.Candidate, spotMargin float64) []cloud.Candidate {
	if allows(claim, catalog.Reserved) {
		candidates = oneReservation(reservations(candidates))
	}
	if !hasMinimums(claim.Requirements) {
		candidates = withoutExotic(candidates)
		candidates = withoutDearSpot(claim, candidates)
	}
	candidates = ofCapacityType(candidates, capacityType(claim, candidates))
	if spotMargin >= 0 && !hasMinimums(claim.Requirements) {
		candidates = nearCheapestSpot(candidates, spotMargin)
	}
	return cheapestTypes(candidates, MostTypes)
}

func allows(claim *cloud.Claim, capacityType string) bool {
	return claim.Requirements.Get(requirement.KeyCapacityType).Has(capacityType)
}

func hasMinimums(s requirement.Set) bool {
	for r := range s.All() {
		if r.MinValues() > 0 {
			return true
		}
	}
	return false
}

// kindOf ranks reservations: ordinary ones come before capacity blocks, and those before reservations that
// EC2 may reclaim.
func kindOf(o *catalog.Offering) int {
	switch {
	case o.Extra.Get(awsv1.LabelCapacityReservationInterruptible).Has("true"):
		return 2
	case o.Extra.Get(awsv1.LabelCapacityReservationType).Has(awsv1.ReservationCapacityBlock):
		return 1
	}
	return 0
}

func isReserved(c cloud.Candidate) bool { return c.Offering.CapacityType == catalog.Reserved }

// reservations keeps only reserved offers, of the kind with the cheapest offer: capacity that is paid for
// comes first, and a fleet can ask for one kind only. Without reserved offers it keeps all candidates.
func reservations(candidates []cloud.Candidate) []cloud.Candidate {
	least := [3]model.Money{math.MaxInt64, math.MaxInt64, math.MaxInt64}
	found := false
	for _, c := range candidates {
		if isReserved(c) {
			kind := kindOf(c.Offering)
			least[kind], found = min(least[kind], c.Offering.Price), true
		}
	}
	if !found {
		return candidates
	}
	best := 0
	for kind, price := range least {
		if price < least[best] {
			best = kind
		}
	}
	return filtered(candidates, func(c cloud.Candidate) bool { return isReserved(c) && kindOf(c.Offering) == best })
}

// oneReservation keeps, for each type in each zone, the reservation with the most room. A fleet can use only
// one capacity block.
func oneReservation(candidates []cloud.Candidate) []cloud.Candidate {
	if len(candidates) == 0 || !isReserved(candidates[0]) {
		return candidates
	}
	if kindOf(candidates[0].Offering) == 1 {
		return candidates[:1:1]
	}
	type place struct{ kind, zone string }
	roomiest := map[place]cloud.Candidate{}
	for _, c := range candidates {
		at := place{c.Type.Name, c.Offering.Zone}
		if best, known := roomiest[at]; !known || c.Offering.ReservationCapacity > best.Offering.ReservationCapacity {
			roomiest[at] = c
		}
	}
	return filtered(candidates, func(c cloud.Candidate) bool {
		return roomiest[place{c.Type.Name, c.Offering.Zone}].Offering.ReservationID == c.Offering.ReservationID
	})
}

// withoutExotic leaves out machines that few pods need, if there are others.
func withoutExotic(candidates []cloud.Candidate) []cloud.Candidate {
	generic := filtered(candidates, func(c cloud.Candidate) bool { return !exotic(c.Type) })
	if len(generic) == 0 {
		return candidates
	}
	return generic
}

func exotic(t *catalog.Type) bool {
	_, size, _ := strings.Cut(t.Name, ".")
	if strings.Contains(size, "metal") {
		return true
	}
	return slices.ContainsFunc([]string{
		instancetype.NvidiaGPU, instancetype.AMDGPU, instancetype.HabanaGaudi, instancetype.Neuron, instancetype.NeuronCore,
	}, func(name string) bool { return t.Capacity.Get(name) > 0 })
}

// withoutDearSpot leaves out spot offers that cost more than the cheapest on-demand offer.
func withoutDearSpot(claim *cloud.Claim, candidates []cloud.Candidate) []cloud.Candidate {
	if !allows(claim, catalog.Spot) || !allows(claim, catalog.OnDemand) {
		return candidates
	}
	at := slices.IndexFunc(candidates, func(c cloud.Candidate) bool { return c.Offering.CapacityType == catalog.OnDemand })
	if at < 0 {
		return candidates
	}
	limit := candidates[at].Offering.Price
	return filtered(candidates, func(c cloud.Candidate) bool {
		return c.Offering.CapacityType != catalog.Spot || c.Offering.Price <= limit
	})
}

// nearCheapestSpot keeps spot offers that cost little more than the cheapest. Among the offers in a request,
// EC2 takes the pool with the most capacity, even if it costs much more than the plan's offer.
func nearCheapestSpot(candidates []cloud.Candidate, margin float64) []cloud.Candidate {
	if len(candidates) == 0 || candidates[0].Offering.CapacityType != catalog.Spot {
		return candidates
	}
	limit := candidates[0].Offering.Price.Float() * (1 + margin)
	return filtered(candidates, func(c cloud.Candidate) bool { return c.Offering.Price.Float() <= limit })
}

// capacityType is how to buy the claim: reserved capacity, else spot, else on-demand.
func capacityType(claim *cloud.Claim, candidates []cloud.Candidate) string {
	for _, way := range []string{catalog.Reserved, catalog.Spot} {
		if allows(claim, way) && slices.ContainsFunc(candidates, func(c cloud.Candidate) bool { return c.Offering.CapacityType == way }) {
			return way
		}
	}
	return catalog.OnDemand
}

func ofCapacityType(candidates []cloud.Candidate, way string) []cloud.Candidate {
	return filtered(candidates, func(c cloud.Candidate) bool { return c.Offering.CapacityType == way })
}

// cheapestTypes keeps all offers of the types with the cheapest offers.
func cheapestTypes(candidates []cloud.Candidate, most int) []cloud.Candidate {
	kept := map[string]bool{}
	return filtered(candidates, func(c cloud.Candidate) bool {
		if len(kept) < most {
			kept[c.Type.Name] = true
		}
		return kept[c.Type.Name]
	})
}

func filtered(candidates []cloud.Candidate, keep func(cloud.Candidate) bool) []cloud.Candidate {
	var kept []cloud.Candidate
	for _, c := range candidates {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// onePerPlace keeps one offer of each type in each zone (and reservation): with a placement group there is
// one for each of its partitions, and a launch names at most one partition.
func onePerPlace(candidates []cloud.Candidate) []cloud.Candidate {
	seen := map[cloud.Offer]bool{}
	return filtered(candidates, func(c cloud.Candidate) bool {
		offer := c.Offer()
		first := !seen[offer]
		seen[offer] = true
		return first
	})
}

// partition is the part of a placement group that the claim asks for; empty if it asks for none. If it allows
// several, partition returns the first in alphabetical order. (As in Karpenter.)
func partition(claim *cloud.Claim) string {
	asked := claim.Requirements.Get(awsv1.LabelPlacementGroupPartition)
	if !claim.Requirements.Has(awsv1.LabelPlacementGroupPartition) || asked.Complement() {
		return ""
	}
	values := asked.Values()
	if len(values) == 0 {
		return ""
	}
	return slices.MinFunc(values, cmp.Compare[string])
}
