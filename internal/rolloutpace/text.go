package rolloutpace

import (
	"fmt"
	"strings"
	"time"
)

// The reasons of the condition RolloutPaused while it is True.
const (
	// ReplacementsFailed: nothing is begun.
	ReplacementsFailed = "ReplacementsFailed"
	// TryingAgain: the pause is over, and one node is tried.
	TryingAgain = "TryingAgain"
)

// Condition is what people see of a pause: a reason and a message, both empty if there is
// none.
func (s State) Condition(now time.Time) (reason, message string) {
	if s.Pause == nil {
		return "", ""
	}
	told := fmt.Sprintf("Replacements of drifted nodes have failed since %s: %s. ", clock(s.Pause.Since), s.failureText())
	if s.Paused(now) {
		return ReplacementsFailed, told + fmt.Sprintf(
			"No drifted node is given up until %s; then one is tried. A change of the nodepool's template or of its node class ends the pause at once", clock(s.Pause.Until))
	}
	return TryingAgain, told + "One drifted node at a time is tried again; when its replacement is ready, the roll-out goes on"
}

// heldText is of nodes that a pause keeps.
func (s State) heldText(pool string) string {
	return fmt.Sprintf("Roll-out of nodepool %q is paused until %s: %s", pool, clock(s.Pause.Until), s.failureText())
}

// slowText is of nodes whose turn has not come.
func (s State) slowText(pool string) string {
	switch {
	case s.Pause != nil:
		return fmt.Sprintf("Roll-out of nodepool %q tries one node first: %s", pool, s.failureText())
	case !s.Proven:
		return fmt.Sprintf("Roll-out of nodepool %q begins with one node, to see whether its replacement comes up", pool)
	case s.Width == 1:
		return fmt.Sprintf("Roll-out of nodepool %q replaces one node at a time for now", pool)
	}
	return fmt.Sprintf("Roll-out of nodepool %q replaces %d nodes at a time for now", pool, s.Width)
}

func (s State) failureText() string {
	parts := make([]string, len(s.Failures))
	for i, f := range s.Failures {
		parts[i] = f.Claim + ": " + strings.TrimRight(f.Why, ". ")
	}
	return strings.Join(parts, "; ")
}

func clock(at time.Time) string { return at.UTC().Format(time.RFC3339) }
