package world

import (
	"reflect"

	"tenon/core/catalog"
	"tenon/core/snapshot"
)

// alike reports whether two snapshots agree in everything that a decision looks at, except the pods, the time and what waits. The
// world shares a list between snapshots while nothing in it has changed, so only the parts that are
// rebuilt every time are compared. Two different lists with equal contents may count as different.
func alike(a, b *snapshot.Snapshot) bool {
	return one(a.Nodes, b.Nodes) && one(a.Templates, b.Templates) && one(a.Daemons, b.Daemons) &&
		sameOffers(a.Catalogs, b.Catalogs) && reflect.DeepEqual(a.Settings, b.Settings) &&
		reflect.DeepEqual(a.Budgets, b.Budgets) && reflect.DeepEqual(a.Buffers, b.Buffers) && reflect.DeepEqual(a.Pools, b.Pools)
}

// one reports whether two lists are the same list. Both are still referenced, so no other list can have
// reused the memory.
func one[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func sameOffers(a, b []catalog.Catalog) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !one(a[i].Types, b[i].Types) {
			return false
		}
	}
	return true
}
