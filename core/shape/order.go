package shape

import (
	"cmp"
	"strings"

	"tenon/core/snapshot"
)

// Older orders pods by creation, then by name, so that the order in which pods were
// listed does not matter.
func Older(s *snapshot.Snapshot, a, b int32) int {
	x, y := &s.Pods[a], &s.Pods[b]
	return cmp.Or(
		x.Created.Compare(y.Created),
		strings.Compare(x.Namespace, y.Namespace),
		strings.Compare(x.Name, y.Name),
		strings.Compare(x.UID, y.UID),
		cmp.Compare(a, b),
	)
}
