package snapshot

import (
	"time"

	"tenon/core/reason"
)

// Buffer is room that is to be kept free, for pods that do not exist yet.
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
}

// Key is namespace/name.
func (b *Buffer) Key() string { return b.Namespace + "/" + b.Name }
