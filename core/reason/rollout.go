package reason

import (
	"fmt"
	"strings"
	"time"
)

// Rollout is how the replacement of a pool's drifted nodes stands.
type Rollout struct {
	Pool  string       `json:"pool"`
	Phase RolloutPhase `json:"phase"`
	// Width is how many nodes may go at a time.
	Width int `json:"width,omitempty"`
	// Until is when a pause ends.
	Until time.Time `json:"until,omitzero"`
	// Failures are what the claims said that failed, or why it is not known how it stands.
	Failures []string `json:"failures,omitempty"`
}

// RolloutPhase is where a roll-out is.
type RolloutPhase string

// The phases. A roll-out begins with one node; where replacements fail it pauses, and then tries
// one again. Held is of the hand-over of a node group to pools, which a user has paused.
const (
	RolloutBegins  RolloutPhase = "Begins"
	RolloutGoesOn  RolloutPhase = "GoesOn"
	RolloutPauses  RolloutPhase = "Pauses"
	RolloutTries   RolloutPhase = "Tries"
	RolloutUnknown RolloutPhase = "Unknown"
	RolloutHeld    RolloutPhase = "Held"
)

// Text is what keeps a node for which its roll-out has to go on first.
func (r *Rollout) Text() string {
	if r.Phase == RolloutHeld {
		return fmt.Sprintf("The hand-over of node group %q is paused by its annotation", r.Pool)
	}
	return fmt.Sprintf("Roll-out of nodepool %q ", r.Pool) + r.clause()
}

func (r *Rollout) clause() string {
	failures := strings.Join(r.Failures, "; ")
	switch {
	case r.Phase == RolloutPauses:
		return "is paused until " + r.Until.UTC().Format(time.RFC3339) + ": " + failures
	case r.Phase == RolloutTries:
		return "tries one node first: " + failures
	case r.Phase == RolloutUnknown:
		return "waits: " + failures
	case r.Phase == RolloutBegins:
		return "begins with one node, to see whether its replacement comes up"
	case r.Width == 1:
		return "replaces one node at a time for now"
	}
	return fmt.Sprintf("replaces %d nodes at a time for now", r.Width)
}
