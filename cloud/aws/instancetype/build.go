package instancetype

import (
	"slices"

	"tenon/cloud/aws/facts"
	"tenon/core/catalog"
	"tenon/core/requirement"
)

// Result is a catalogue with remarks on types that are missing from it or cannot be bought.
type Result struct {
	Catalog catalog.Catalog
	// Remarks are in the order of the facts.
	Remarks []Remark
}

// Remark says what is wrong with one type.
type Remark struct {
	Type string
	Why  Why
}

// Why is the kind of a remark.
type Why string

// The catalogue leaves out types with one of the first four.
const (
	// SizeUnknown means that the type's processors or memory are not known.
	SizeUnknown Why = "SizeUnknown"
	// ArchitectureUnknown means that no Kubernetes node can run on the type, as on a Mac.
	ArchitectureUnknown Why = "ArchitectureUnknown"
	// PodLimitUnknown means that it is not known how many pods can have an address.
	PodLimitUnknown Why = "PodLimitUnknown"
	// NotOffered means that EC2 does not offer the type in the region, according to its own answer.
	NotOffered Why = "NotOffered"
	// PriceUnknown types are in the catalogue without an available offer, unless an overlay sets a price.
	PriceUnknown Why = "PriceUnknown"
	// Incompatible types are in the catalogue, but the class rules their offers out.
	Incompatible Why = "Incompatible"
)

// Skips reports whether such types are left out of the catalogue.
func (w Why) Skips() bool { return w != PriceUnknown && w != Incompatible }

// Count returns how many types have the remark.
func (r Result) Count(why Why) int {
	n := 0
	for _, remark := range r.Remarks {
		if remark.Why == why {
			n++
		}
	}
	return n
}

// Build makes the catalogue. Types are in the order of the facts and share data; the result must not be
// changed.
func Build(p Params) Result {
	types := p.Types
	if types == nil {
		types = facts.Types()
	}
	b := newBuilder(&p)
	out := Result{Catalog: catalog.Catalog{Types: make([]catalog.Type, 0, len(types))}}
	for i := range types {
		remark := b.unusable(&types[i])
		if remark == "" {
			var made catalog.Type
			made, remark = b.build(&types[i])
			out.Catalog.Types = append(out.Catalog.Types, made)
		}
		if remark != "" {
			out.Remarks = append(out.Remarks, Remark{Type: types[i].Name, Why: remark})
		}
	}
	return out
}

// builder holds what all types of one catalogue share.
type builder struct {
	*Params
	traits traits
	prices Prices
	// zones lists the zones of the class and then the others of the region, with the requirements that all
	// offers in a zone share.
	zones []zone
	// labels caches requirements with a single value.
	labels map[[2]string]requirement.Requirement
	// scratch is reused for the requirements of one type after the other.
	scratch []requirement.Requirement
}

type zone struct {
	facts.Zone
	usable bool // the class has a subnet there
	extras []requirement.Set
}

func newBuilder(p *Params) *builder {
	b := &builder{
		Params: p,
		traits: traitsOf(p.Class.Family),
		prices: p.Prices,
		labels: map[[2]string]requirement.Requirement{},
	}
	if b.prices == nil {
		b.prices = noPrices{}
	}
	for _, z := range p.Zones {
		b.zones = append(b.zones, zone{Zone: z, usable: true, extras: b.extras(z.ID)})
	}
	for _, name := range p.OtherZones {
		b.zones = append(b.zones, zone{Zone: facts.Zone{Name: name}, extras: b.extras("")})
	}
	return b
}

// unusable says why nothing can be built from the facts; empty if something can.
func (b *builder) unusable(t *facts.Type) Why {
	switch {
	case !t.VCPUs.Known() || !t.MemoryMiB.Known():
		return SizeUnknown
	case t.Architecture == "":
		return ArchitectureUnknown
	case !t.PodLimit.Known() && !(t.CardInterfaces.Known() && t.Addresses.Known()):
		return PodLimitUnknown
	}
	if _, offered := b.Discovered[t.Name]; b.Discovered != nil && !offered {
		return NotOffered
	}
	return ""
}

func (b *builder) build(t *facts.Type) (catalog.Type, Why) {
	found := b.Discovered[t.Name]
	buyable := buyable{
		Type:          t,
		zones:         b.zonesOf(found),
		capacityTypes: b.capacityTypesOf(found),
		reservations:  b.reservationsOf(t.Name),
		compatible:    b.Class.compatible(t, found),
	}
	s := b.sizeOf(t)
	out := catalog.Type{
		Name:         t.Name,
		Requirements: b.requirements(buyable),
		Capacity:     s.capacity,
		Overhead:     b.overhead(s),
		Offerings:    b.offerings(buyable),
	}
	switch {
	case !buyable.compatible:
		return out, Incompatible
	case len(buyable.zones) > 0 && !slices.ContainsFunc(out.Offerings, func(o catalog.Offering) bool { return o.Price > 0 }):
		return out, PriceUnknown
	}
	return out, ""
}

// buyable is a type with the ways to buy it.
type buyable struct {
	*facts.Type
	zones         []zone // of the class, that offer the type
	capacityTypes []string
	reservations  []Reservation
	compatible    bool
}

// zonesOf returns the zones of the class that offer a type.
func (b *builder) zonesOf(found Discovered) []zone {
	var zones []zone
	for _, z := range b.zones {
		if z.usable && (found.Zones == nil || slices.Contains(found.Zones, z.Name)) {
			zones = append(zones, z)
		}
	}
	return zones
}

// capacityTypesOf returns which of on-demand and spot EC2 sells the type as; EC2's other usage classes are
// bought in other ways.
func (b *builder) capacityTypesOf(found Discovered) []string {
	both := []string{catalog.OnDemand, catalog.Spot}
	if found.CapacityTypes == nil {
		return both
	}
	return slices.DeleteFunc(both, func(c string) bool { return !slices.Contains(found.CapacityTypes, c) })
}

func (b *builder) reservationsOf(instanceType string) []Reservation {
	var of []Reservation
	for _, r := range b.Reservations {
		if r.InstanceType == instanceType {
			of = append(of, r)
		}
	}
	return of
}
