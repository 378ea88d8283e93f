// Package catalog describes what can be bought: instance types and, for each, the
// offerings (zone × capacity type × reservation) with price and availability.
//
// A catalogue is data. Providers and files fill it (cloud/aws, internal/ingest); price
// and capacity overlays are applied before it gets here.
package catalog

import (
	"iter"
	"strings"
	"time"

	"tenon/core/model"
	"tenon/core/requirement"
)

// Capacity types.
const (
	OnDemand = "on-demand"
	Spot     = "spot"
	Reserved = "reserved"
)

// Catalog is a list of instance types, in no particular order, names unique.
type Catalog struct {
	Types []Type `json:"types"`
}

// Matching returns the types whose labels satisfy requirements. Most claims name their types, and a name rules
// out the others sooner than their labels do.
func (c *Catalog) Matching(asked requirement.Set) iter.Seq[*Type] {
	named := asked.Get(requirement.KeyInstanceType)
	return func(yield func(*Type) bool) {
		for i := range c.Types {
			if t := &c.Types[i]; named.Has(t.Name) && t.Requirements.Intersects(asked) && !yield(t) {
				return
			}
		}
	}
}

// Type is one kind of machine.
type Type struct {
	// Name is the value of the type's label requirement.KeyInstanceType.
	Name string `json:"name"`
	// Requirements are the type's labels: every well-known label is defined, possibly
	// as DoesNotExist. Zone and capacity type list what the offerings offer.
	Requirements requirement.Set `json:"requirements"`
	Capacity     model.Resources `json:"capacity"`
	// Overhead is what kubelet, system and eviction threshold keep for themselves.
	Overhead  model.Resources `json:"overhead"`
	Offerings []Offering      `json:"offerings"`
	// PriceOverlay and CapacityOverlay record that a NodeOverlay changed this type.
	PriceOverlay    bool `json:"priceOverlay,omitempty"`
	CapacityOverlay bool `json:"capacityOverlay,omitempty"`
}

// Allocatable is what pods and daemons can use of a new node bought through o.
// Huge pages are taken out of memory, as kubelets do.
func (t *Type) Allocatable(o *Offering) model.Resources {
	capacity, overhead := t.FullCapacity(o), replaced(t.Overhead, o.Overhead)
	room := capacity.Sub(overhead)
	for _, a := range capacity.Extended {
		if strings.HasPrefix(a.Name, "hugepages-") {
			room.Memory -= a.Value
		}
	}
	return room.Floor()
}

// FullCapacity is the capacity of a node of this type bought through o.
func (t *Type) FullCapacity(o *Offering) model.Resources { return replaced(t.Capacity, o.Capacity) }

func replaced(base model.Resources, override *model.Resources) model.Resources {
	if override == nil {
		return base
	}
	for _, a := range override.Amounts() {
		base = base.Add(model.NewResources(model.Amount{Name: a.Name, Value: a.Value - base.Get(a.Name)}))
	}
	return base
}

// Offering is one way to buy a Type.
type Offering struct {
	Zone          string `json:"zone"`
	CapacityType  string `json:"capacityType"`
	ReservationID string `json:"reservationID,omitempty"`
	// Extra are labels of the offering beside zone and capacity type (zone ID,
	// reservation labels, tenancy …). Offerings share one value. What it says of the labels of zone and capacity type
	// themselves holds in place of Zone and CapacityType, which are for people then.
	Extra requirement.Set `json:"extra,omitzero"`
	Price model.Money     `json:"price"`
	// Available is false while the provider knows that it cannot be had.
	Available bool `json:"available"`
	// Outage is since when it cannot be had, if the provider has seen that. Nil is unknown.
	Outage *Outage `json:"outage,omitempty"`
	// Unpriced offerings have no known price, and are not Available: nothing is bought at a price
	// that is not known. They could be had otherwise, so a price makes them available.
	Unpriced bool `json:"unpriced,omitempty"`
	// ReservationCapacity is how many instances the reservation still holds.
	ReservationCapacity int64 `json:"reservationCapacity,omitempty"`
	// Capacity and Overhead replace the type's, resource by resource, where set.
	Capacity *model.Resources `json:"capacity,omitempty"`
	Overhead *model.Resources `json:"overhead,omitempty"`
}

// Labels are those that a node gets from the offering, beside those of its type.
func (o *Offering) Labels() requirement.Set {
	labels := o.Extra
	if !labels.Has(requirement.KeyZone) {
		labels = labels.With(requirement.New(requirement.KeyZone, requirement.In, o.Zone))
	}
	if !labels.Has(requirement.KeyCapacityType) {
		labels = labels.With(requirement.New(requirement.KeyCapacityType, requirement.In, o.CapacityType))
	}
	return labels
}

// Outage is the time during which the cloud could not give an offering, and Until when it is left out
// of decisions: then it is tried again.
type Outage struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}
