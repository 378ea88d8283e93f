package instancetype

import (
	"slices"
	"strconv"

	awsv1 "tenon/api/aws/v1"
	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
)

// A reserved machine is already paid for. Its price is so low that the planner takes it first, and still
// orders offers: of two reservations with room, the planner takes the smaller machine. With a price of zero
// all would be equal, and would look as if their price were unknown.
const (
	reservedDiscount = 100_000
	reservedMost     = model.Money(500) // less than any machine costs without a reservation
)

// reservedPrice returns the price of a reserved machine, from its on-demand price.
func reservedPrice(onDemand model.Money) model.Money {
	return min(max((onDemand+reservedDiscount-1)/reservedDiscount, 1), reservedMost)
}

// offerings returns the ways to buy a type: on-demand and spot in every zone of the region, and its
// reservations. It lists an offer without a price, because machines bought by it may be running, but marks it
// as unavailable.
func (b *builder) offerings(t buyable) []catalog.Offering {
	perZone := len(t.capacityTypes) * max(len(b.Class.PlacementGroup.partitions()), 1)
	out := make([]catalog.Offering, 0, len(b.zones)*perZone+len(t.reservations))
	for i := range b.zones {
		z := &b.zones[i]
		for _, way := range t.capacityTypes {
			price, known := b.price(t.Name, z.Name, way)
			if !known {
				price = 0
			}
			offer := catalog.Offering{
				Zone:         z.Name,
				CapacityType: way,
				Price:        price,
				Available:    t.compatible && t.sellsIn(z.Name) && b.available(t.Name, z.Name, way),
			}
			available := offer.Available
			for i, extra := range z.extras {
				offer.Extra = extra
				had := available && b.availableIn(t.Name, z.Name, way, i)
				offer.Available, offer.Unpriced = had && known, had && !known
				out = append(out, offer)
			}
		}
	}
	for _, r := range t.reservations {
		out = append(out, b.reserved(t, r)...)
	}
	return out
}

func (b *builder) price(instanceType, zone, capacityType string) (model.Money, bool) {
	if capacityType == catalog.Spot {
		return b.prices.Spot(instanceType, zone)
	}
	return b.prices.OnDemand(instanceType)
}

func (b *builder) available(instanceType, zone, capacityType string) bool {
	return b.Unavailable == nil || !b.Unavailable(instanceType, zone, capacityType)
}

// availableIn reports whether the offer is available in a partition of the group, given by its place in the
// list.
func (b *builder) availableIn(instanceType, zone, capacityType string, place int) bool {
	partitions := b.Class.PlacementGroup.partitions()
	if b.UnavailableIn == nil || place >= len(partitions) {
		return true
	}
	return !b.UnavailableIn(instanceType, zone, capacityType, partitions[place])
}

// sellsIn reports whether the zone belongs to the class and offers the type.
func (t buyable) sellsIn(zoneName string) bool {
	return slices.ContainsFunc(t.zones, func(z zone) bool { return z.Name == zoneName })
}

// reserved returns the offers of a reservation, one for each partition of the group.
func (b *builder) reserved(t buyable, r Reservation) []catalog.Offering {
	price, _ := b.prices.OnDemand(t.Name) // an unknown price counts as the lowest: the reservation is paid for anyway
	own := []requirement.Requirement{
		requirement.New(awsv1.LabelCapacityReservationID, requirement.In, r.ID),
		requirement.New(awsv1.LabelCapacityReservationType, requirement.In, r.Kind),
		requirement.New(awsv1.LabelCapacityReservationInterruptible, requirement.In, strconv.FormatBool(r.Interruptible)),
	}
	offer := catalog.Offering{
		Zone:                r.Zone,
		CapacityType:        catalog.Reserved,
		ReservationID:       r.ID,
		Price:               reservedPrice(price),
		Available:           t.compatible && r.Available > 0 && !r.Expiring && t.sellsIn(r.Zone) && b.available(t.Name, r.Zone, catalog.Reserved),
		ReservationCapacity: r.Available,
	}
	var out []catalog.Offering
	for _, extra := range b.partitioned(append(own, b.zoneID(b.idOf(r.Zone))...)) {
		offer.Extra = extra
		out = append(out, offer)
	}
	return out
}

func (b *builder) idOf(zoneName string) string {
	for _, z := range b.zones {
		if z.Name == zoneName {
			return z.ID
		}
	}
	return ""
}

// extras returns the requirements that all unreserved offers in a zone share, one set for each partition of
// the placement group.
func (b *builder) extras(zoneID string) []requirement.Set {
	return b.partitioned(append(b.unreserved(), b.zoneID(zoneID)...))
}

func (b *builder) zoneID(id string) []requirement.Requirement {
	if id == "" {
		return nil
	}
	return []requirement.Requirement{b.label(awsv1.LabelZoneID, id)}
}

func (b *builder) partitioned(common []requirement.Requirement) []requirement.Set {
	partitions := b.Class.PlacementGroup.partitions()
	if len(partitions) == 0 {
		return []requirement.Set{requirement.NewSet(common...)}
	}
	var sets []requirement.Set
	for _, p := range partitions {
		sets = append(sets, requirement.NewSet(append(slices.Clone(common), b.label(awsv1.LabelPlacementGroupPartition, p))...))
	}
	return sets
}
