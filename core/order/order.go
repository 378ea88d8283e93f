// Package order gives collections that have no order of their own a fixed one, so that
// the same input always leads to the same answer. It decides nothing.
package order

import (
	"cmp"
	"maps"
	"slices"
)

// Keys are the keys of m, smallest first. Wherever the order of a range over a map could
// be seen in an answer, range over Keys instead.
func Keys[M ~map[K]V, K cmp.Ordered, V any](m M) []K {
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// Bools compares two booleans, false before true.
func Bools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
