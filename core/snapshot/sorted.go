package snapshot

import (
	"cmp"
	"slices"
	"strings"

	"tenon/core/catalog"
)

// Sorted is a snapshot in an order of its own, so that the order in which objects were listed
// cannot show in a plan: pods come oldest first, pools by weight, types and daemons by name.
// Every decision sorts once, and everything in it is numbered as here; Given leads back. Nodes
// keep their numbers.
type Sorted struct {
	*Snapshot
	given []PodIndex
}

// Sort puts a snapshot in order. The given one stays as it is. The types are remembered in m, which
// may be nil.
func Sort(given *Snapshot, m *TypeOrders) Sorted {
	s := *given
	out := Sorted{Snapshot: &s, given: oldestFirst(given.Pods)}
	s.Pods = make([]Pod, len(given.Pods))
	for i, from := range out.given {
		s.Pods[i] = given.Pods[from]
	}
	s.Pools = slices.SortedFunc(slices.Values(given.Pools), func(a, b Pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Name, b.Name))
	})
	s.Catalogs = make([]catalog.Catalog, len(given.Catalogs))
	for c := range given.Catalogs {
		s.Catalogs[c].Types = m.byName(given.Catalogs[c].Types)
	}
	s.Daemons = slices.SortedFunc(slices.Values(given.Daemons), func(a, b Daemon) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return out
}

// Given is where a pod stands in the snapshot that was sorted.
func (s Sorted) Given(pod PodIndex) PodIndex { return s.given[pod] }

// With is the snapshot with more pods behind those that it has, in their order. Its nodes and pools
// may be edited.
func (s Sorted) With(pods []Pod) Sorted {
	more := *s.Snapshot
	more.Pods = slices.Concat(s.Pods, pods)
	more.Nodes, more.Pools = slices.Clone(s.Nodes), slices.Clone(s.Pools)
	out := Sorted{Snapshot: &more, given: slices.Clone(s.given)}
	for i := range pods {
		out.given = append(out.given, PodIndex(len(s.Pods)+i))
	}
	return out
}

// oldestFirst lists pods by creation, then by name. The times are read once: of a whole cluster
// there are many pods, and nearly all differ in their second already.
func oldestFirst(pods []Pod) []PodIndex {
	list := make([]aged, len(pods))
	for i := range pods {
		created := pods[i].Created
		list[i] = aged{created.Unix(), int32(created.Nanosecond()), PodIndex(i)}
	}
	slices.SortFunc(list, func(a, b aged) int {
		if a.second != b.second {
			return cmp.Compare(a.second, b.second)
		}
		if a.nano != b.nano {
			return cmp.Compare(a.nano, b.nano)
		}
		return cmp.Or(named(&pods[a.pod], &pods[b.pod]), cmp.Compare(a.pod, b.pod))
	})
	out := make([]PodIndex, len(pods))
	for i := range list {
		out[i] = list[i].pod
	}
	return out
}

// aged is a pod with when it was made.
type aged struct {
	second int64
	nano   int32
	pod    PodIndex
}

// named orders pods by name, each further word only where the ones before are equal.
func named(x, y *Pod) int {
	if c := strings.Compare(x.Namespace, y.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(x.Name, y.Name); c != 0 {
		return c
	}
	return strings.Compare(x.UID, y.UID)
}

// TypeOrders are catalogues in the order of their types, kept from one decision of an asker to the
// next. The zero value is empty; nil remembers nothing.
type TypeOrders struct{ known []typeOrder }

// typeOrder is a list of types, and the same by name.
type typeOrder struct{ given, byName []catalog.Type }

// fewLists is how many catalogues are remembered in order.
const fewLists = 64

// byName puts types in order. The same list, which never changes, gives the same list.
func (m *TypeOrders) byName(types []catalog.Type) []catalog.Type {
	if m == nil || len(types) == 0 {
		return byName(types)
	}
	for _, o := range m.known {
		if len(o.given) == len(types) && &o.given[0] == &types[0] {
			return o.byName
		}
	}
	if len(m.known) >= fewLists {
		m.known = nil
	}
	out := byName(types)
	m.known = append(m.known, typeOrder{types, out})
	return out
}

func byName(types []catalog.Type) []catalog.Type {
	compare := func(a, b catalog.Type) int { return strings.Compare(a.Name, b.Name) }
	if slices.IsSortedFunc(types, compare) {
		return types
	}
	return slices.SortedFunc(slices.Values(types), compare)
}
