package shape

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/snapshot"
)

// OldestFirst sorts pods by creation, then by name, so that the order in which pods were
// listed does not matter. The times are read once: of a whole cluster there are many pods,
// and nearly all differ in their second already.
func OldestFirst(s *snapshot.Snapshot, pods []int32) {
	list := make([]aged, len(pods))
	for i, p := range pods {
		created := s.Pods[p].Created
		list[i] = aged{created.Unix(), int32(created.Nanosecond()), p}
	}
	slices.SortFunc(list, func(a, b aged) int {
		if a.second != b.second {
			return cmp.Compare(a.second, b.second)
		}
		if a.nano != b.nano {
			return cmp.Compare(a.nano, b.nano)
		}
		return named(s, a.pod, b.pod)
	})
	for i := range list {
		pods[i] = list[i].pod
	}
}

// aged is a pod with when it was made.
type aged struct {
	second int64
	nano   int32
	pod    int32
}

// named orders pods by name, each further word only where the ones before are equal.
func named(s *snapshot.Snapshot, a, b int32) int {
	x, y := &s.Pods[a], &s.Pods[b]
	if c := strings.Compare(x.Namespace, y.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(x.Name, y.Name); c != 0 {
		return c
	}
	return cmp.Or(strings.Compare(x.UID, y.UID), cmp.Compare(a, b))
}
