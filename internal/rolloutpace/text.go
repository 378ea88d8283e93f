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
	told := fmt.Sprintf("Replacements of drifted nodes have failed since %s: %s. ", clock(s.Pause.Since), strings.Join(s.failures(), "; "))
	if s.Paused(now) {
		return ReplacementsFailed, told + fmt.Sprintf(
			"No drifted node is replaced until %s; then one is tried. A change of the nodepool's template or of its node class ends the pause at once", clock(s.Pause.Until))
	}
	return TryingAgain, told + "One drifted node at a time is tried again; when its replacement is ready, the roll-out goes on"
}

// failures are what is said of each.
func (s State) failures() []string {
	out := make([]string, len(s.Failures))
	for i, f := range s.Failures {
		out[i] = f.Claim + ": " + strings.TrimRight(f.Why, ". ")
	}
	return out
}

func clock(at time.Time) string { return at.UTC().Format(time.RFC3339) }
