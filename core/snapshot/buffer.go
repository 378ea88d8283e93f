package snapshot

import (
	"fmt"
	"time"

	"tenon/core/reason"
)

// Buffer is room that is to be kept free, for pods that do not exist yet: of a CapacityBuffer, or of one set of pods of
// a ProvisioningRequest.
type Buffer struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Template is what the pods would be like, an index into Snapshot.Templates.
	Template TemplateIndex `json:"template"`
	// Pods is for how many of them room is to be kept.
	Pods int `json:"pods"`
	// Refused, when not empty, is why no place can be looked for.
	Refused reason.Obstacles `json:"refused,omitempty"`
	Created time.Time        `json:"created,omitzero"`
	// Booking is set if a ProvisioningRequest asks for the room, or has got it. Its sets follow each other.
	Booking *Booking `json:"booking,omitempty"`
}

// Booking is how a ProvisioningRequest gets its room.
type Booking struct {
	// Set is the number of the set of pods.
	Set int `json:"set,omitempty"`
	// Held says that the request has got its room, which is kept. Otherwise it gets room for all of its pods, or
	// none.
	Held bool `json:"held,omitempty"`
	// Buys says that nodes may be bought. Otherwise only room counts that there is.
	Buys bool `json:"buys,omitempty"`
}

// Key is namespace/name.
func (b *Buffer) Key() string { return b.Namespace + "/" + b.Name }

// IsSetBeside reports whether two buffers are sets of pods of one request.
func (b *Buffer) IsSetBeside(other *Buffer) bool {
	return b.Booking != nil && other.Booking != nil && b.Key() == other.Key()
}

// PodName is how the names of the buffer's virtual pods begin.
func (b *Buffer) PodName() string {
	if b.Booking != nil {
		return fmt.Sprintf("provisioning-request-%s-%d", b.Name, b.Booking.Set)
	}
	return "capacity-buffer-" + b.Name
}
