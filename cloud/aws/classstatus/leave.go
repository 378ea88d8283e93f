package classstatus

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ClaimsHold is how long a class that is being deleted waits for its claims before it looks again, unless one
// of them goes.
const ClaimsHold = 10 * time.Minute

// Awaited names the claims that a class waits for before it can go.
func Awaited(claims []string) string {
	const shown = 5
	names := slices.Sorted(slices.Values(claims))
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if others := len(names) - shown; others > 0 {
		text += fmt.Sprintf(" and %d other(s)", others)
	}
	return "Waiting on NodeClaim termination for " + text
}
