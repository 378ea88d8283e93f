package search

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/catalog"
	"tenon/core/plan"
	"tenon/core/shape"
	"tenon/core/snapshot"
)

// Sorted is a snapshot in an order of its own, so that the order of the input cannot
// show in the plan.
type Sorted struct {
	*snapshot.Snapshot
	// Given is where each pod stands in the given snapshot.
	Given []int
}

// Sort puts pods, pools, types and daemons in order. The given snapshot stays as it is.
func Sort(given *snapshot.Snapshot, m *Memory) Sorted {
	s := *given
	out := Sorted{Snapshot: &s, Given: make([]int, len(given.Pods))}
	order := make([]int32, len(given.Pods))
	for i := range order {
		order[i] = int32(i)
	}
	shape.OldestFirst(given, order)
	s.Pods = make([]snapshot.Pod, len(order))
	for i, from := range order {
		s.Pods[i] = given.Pods[from]
		out.Given[i] = int(from)
	}
	s.Pools = slices.SortedFunc(slices.Values(given.Pools), func(a, b snapshot.Pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Name, b.Name))
	})
	s.Catalogs = make([]catalog.Catalog, len(given.Catalogs))
	for c := range given.Catalogs {
		s.Catalogs[c].Types = m.byName(given.Catalogs[c].Types)
	}
	s.Daemons = slices.SortedFunc(slices.Values(given.Daemons), func(a, b snapshot.Daemon) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}

// ByName are types in the order of their names.
func ByName(types []catalog.Type) []catalog.Type {
	compare := func(a, b catalog.Type) int { return strings.Compare(a.Name, b.Name) }
	if slices.IsSortedFunc(types, compare) {
		return types
	}
	return slices.SortedFunc(slices.Values(types), compare)
}

// Restore gives pods the numbers that they have in the given snapshot.
func (a Sorted) Restore(p plan.Plan) plan.Plan {
	renumber := func(pods []int) {
		for i := range pods {
			pods[i] = a.Given[pods[i]]
		}
		slices.Sort(pods)
	}
	for i := range p.Claims {
		renumber(p.Claims[i].Pods)
	}
	for i := range p.Existing {
		renumber(p.Existing[i].Pods)
	}
	for i := range p.Unplaced {
		p.Unplaced[i].Pod = a.Given[p.Unplaced[i].Pod]
	}
	slices.SortFunc(p.Unplaced, func(x, y plan.Unplaced) int { return cmp.Compare(x.Pod, y.Pod) })
	return p
}
