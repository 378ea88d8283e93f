package supervise

import (
	"fmt"
	"strings"
	"time"

	"tenon/lab/state"
)

// tailLines is how much of a log is shown when its component fails.
const tailLines = 12

// Died says that a component ended or did not become ready, how, and the last lines of its log.
type Died struct {
	Component string
	What      string // "ended with exit status 1 after 2.1s"
	Log       string
	Tail      string
}

func (e *Died) Error() string {
	text := fmt.Sprintf("%s %s", e.Component, e.What)
	if e.Tail == "" {
		return text + "; its log is empty (" + e.Log + ")"
	}
	return text + "; the last lines of its log (" + e.Log + "):\n" + indent(e.Tail)
}

func died(r *running) *Died {
	lived := time.Since(r.child.Started).Round(100 * time.Millisecond)
	return describe(r, fmt.Sprintf("ended with %s after %s", r.child.State(), lived))
}

func late(r *running, reason error) *Died {
	return describe(r, fmt.Sprintf("was not ready within %s: %v", r.component.Within, reason))
}

func describe(r *running, what string) *Died {
	tail, err := state.Tail(r.component.Log, tailLines)
	if err != nil {
		tail = []byte(err.Error())
	}
	return &Died{Component: r.component.Name, What: what, Log: r.component.Log, Tail: string(tail)}
}

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return "  | " + strings.Join(lines, "\n  | ")
}
