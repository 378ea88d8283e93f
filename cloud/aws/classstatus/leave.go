package classstatus

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// ClaimsHold is how long a class that goes away waits for its claims, unless one goes.
const ClaimsHold = 10 * time.Minute

// Awaited says for whose end a class waits before it goes away itself.
func Awaited(claims []string) string {
	const shown = 5
	names := slices.Sorted(slices.Values(claims))
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if others := len(names) - shown; others > 0 {
		text += fmt.Sprintf(" and %d other(s)", others)
	}
	return "Waiting on NodeClaim termination for " + text
}
