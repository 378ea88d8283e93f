package ingest

import (
	"cmp"
	"iter"

	"tenon/core/catalog"
	"tenon/core/model"
	"tenon/core/requirement"
	"tenon/core/snapshot"
)

// choice is what the cloud can launch for a claim.
type choice struct {
	// kind and offering are the cheapest that have enough room; nil when there are none.
	kind     *catalog.Type
	offering *catalog.Offering
	// most is the most that any of them has of each resource.
	most model.Resources
}

// choiceOf looks through the available offerings that the requirements allow.
func choiceOf(offers *catalog.Catalog, want requirement.Set, wellKnown requirement.KeySet, room model.Resources) choice {
	var c choice
	if offers == nil {
		return c
	}
	for t, o := range Buyable(offers, want, wellKnown) {
		if full := t.FullCapacity(o); !full.Fits(c.most) {
			c.most = c.most.Max(full)
		}
		dearer := c.kind != nil && cmp.Or(cmp.Compare(o.Price, c.offering.Price), cmp.Compare(t.Name, c.kind.Name)) >= 0
		if !dearer && room.Fits(t.Allocatable(o)) {
			c.kind, c.offering = t, o
		}
	}
	return c
}

// CanBuy reports whether a catalogue has an available offering that these requirements allow.
func CanBuy(offers *catalog.Catalog, want requirement.Set, wellKnown requirement.KeySet) bool {
	for range Buyable(offers, want, wellKnown) {
		return true
	}
	return false
}

// Buyable returns all available offerings that these requirements allow, each with its type.
func Buyable(offers *catalog.Catalog, want requirement.Set, wellKnown requirement.KeySet) iter.Seq2[*catalog.Type, *catalog.Offering] {
	return func(yield func(*catalog.Type, *catalog.Offering) bool) {
		for t := range offers.Matching(want) {
			for j := range t.Offerings {
				if o := &t.Offerings[j]; o.Available && allows(want, o, wellKnown) && !yield(t, o) {
					return
				}
			}
		}
	}
}

func allows(want requirement.Set, o *catalog.Offering, wellKnown requirement.KeySet) bool {
	return (!want.Has(requirement.KeyZone) || want.Get(requirement.KeyZone).Has(o.Zone)) &&
		(!want.Has(requirement.KeyCapacityType) || want.Get(requirement.KeyCapacityType).Has(o.CapacityType)) &&
		want.Compatible(o.Extra, wellKnown)
}

// priceOf looks up what a node costs: the price of its own offering, else that of the cheapest
// offering of its type and capacity type in another zone, since a zone may have been removed from
// the catalogue while nodes run there. A node without a capacity type counts as bought on demand.
func priceOf(offers *catalog.Catalog, n *snapshot.Node) model.Money {
	if offers == nil || n.InstanceType == "" {
		return 0
	}
	capacityType := cmp.Or(n.CapacityType, catalog.OnDemand)
	var elsewhere model.Money
	for i := range offers.Types {
		if offers.Types[i].Name != n.InstanceType {
			continue
		}
		for _, o := range offers.Types[i].Offerings {
			if o.CapacityType != capacityType || o.Price == 0 && !o.Available { // a zero price of an unavailable offering is unknown
				continue
			}
			if o.Zone == n.Zone && o.ReservationID == n.Reservation {
				return o.Price
			}
			if elsewhere == 0 || o.Price < elsewhere {
				elsewhere = o.Price
			}
		}
	}
	return elsewhere
}
