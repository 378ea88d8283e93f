package cloud

import (
	"cmp"
	"maps"
	"time"

	"tenon/core/model"
)

// Instance is a machine of this cluster.
type Instance struct {
	// ProviderID names it in this cloud for ever, and is what its Node has as
	// spec.providerID.
	ProviderID string `json:"providerID"`
	// ClaimUID and ClaimName are of the claim that it was bought for. They are empty on
	// instances that another autoscaler bought for this cluster before we took over.
	ClaimUID  string   `json:"claimUID,omitempty"`
	ClaimName string   `json:"claimName,omitempty"`
	Pool      string   `json:"pool,omitempty"`
	Class     ClassRef `json:"class,omitzero"`
	Offer     Offer    `json:"offer"`
	ImageID   string   `json:"imageID,omitempty"`
	// Labels has a value for every well-known label that the machine has, and for the
	// provider's own. Annotations are what the provider wants to find on the claim again.
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	// Capacity and Allocatable are what is expected of the node.
	Capacity    model.Resources `json:"capacity"`
	Allocatable model.Resources `json:"allocatable"`
	State       State           `json:"state"`
	Launched    time.Time       `json:"launched"`
}

// Clone shares nothing that can be changed.
func (i Instance) Clone() Instance {
	i.Labels = maps.Clone(i.Labels)
	i.Annotations = maps.Clone(i.Annotations)
	return i
}

// State is the stage of an instance's life. An instance that is gone has no state: it is NotFound.
type State string

// The states.
const (
	Pending State = "Pending"
	Running State = "Running"
	// Stopped instances exist and do not run. Tenon never stops one: its owner did.
	Stopped State = "Stopped"
	// Terminating instances are ending, and nothing can stop that. Garbage collection counts them as gone.
	Terminating State = "Terminating"
)

// Known reports whether s is one of the states.
func (s State) Known() bool {
	return s == Pending || s == Running || s == Stopped || s == Terminating
}

// Offer names an offering of a catalogue. Unlike plan.Offer it has no price, so providers can use it as a
// key.
type Offer struct {
	InstanceType string `json:"instanceType"`
	Zone         string `json:"zone"`
	CapacityType string `json:"capacityType"`
	Reservation  string `json:"reservation,omitempty"`
}

// String is type/zone/capacity type, and the reservation if there is one.
func (o Offer) String() string {
	text := o.InstanceType + "/" + o.Zone + "/" + o.CapacityType
	if o.Reservation != "" {
		text += "/" + o.Reservation
	}
	return text
}

// Compare is a total order: by type, zone, capacity type and reservation.
func (o Offer) Compare(p Offer) int {
	return cmp.Or(
		cmp.Compare(o.InstanceType, p.InstanceType), cmp.Compare(o.Zone, p.Zone),
		cmp.Compare(o.CapacityType, p.CapacityType), cmp.Compare(o.Reservation, p.Reservation),
	)
}
