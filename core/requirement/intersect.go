package requirement

import (
	"slices"
	"strings"
)

// Intersect is the requirement that holds exactly where both r and o hold. Both must be
// on the same key. The larger minimum wins.
func (r Requirement) Intersect(o Requirement) Requirement {
	out := Requirement{
		key:       r.key,
		absent:    r.absent && o.absent,
		minValues: max(r.minValues, o.minValues),
	}
	both := r.bounds.and(o.bounds)
	switch {
	case both.crossed(): // nothing is left
	case r.complement && o.complement:
		out.complement, out.bounds = true, both
		out.values = keep(union(r.values, o.values), both.admit)
	case r.complement:
		out.values = keep(o.values, r.has)
	case o.complement:
		out.values = keep(r.values, o.has)
	default:
		out.values = common(r.values, o.values)
	}
	return out
}

// Intersects reports whether some value satisfies both r and o. That both may be absent
// does not count; Compatible asks for that too.
func (r Requirement) Intersects(o Requirement) bool { return overlap(&r, &o) }

// Compatible reports whether a node can satisfy both r and o, with a value or without
// the label.
func (r Requirement) Compatible(o Requirement) bool { return compatible(&r, &o) }

func compatible(r, o *Requirement) bool { return r.absent && o.absent || overlap(r, o) }

func overlap(r, o *Requirement) bool {
	switch {
	case r.complement && o.complement:
		// However many values are excluded, others are left: even a range of one
		// integer can be written with more leading zeros.
		return !r.bounds.and(o.bounds).crossed()
	case r.complement:
		return anyIn(o.values, r)
	case o.complement:
		return anyIn(r.values, o)
	}
	return haveCommon(r.values, o.values)
}

func anyIn(values []string, r *Requirement) bool {
	for _, value := range values {
		if r.has(value) {
			return true
		}
	}
	return false
}

// The functions below work on sorted slices without duplicates. They give back one of
// their arguments where it is the answer, since arguments are not changed.

func sortedUnique(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	out := slices.Clone(values)
	slices.Sort(out)
	return slices.Clip(slices.Compact(out))
}

// few is the length up to which looking at every value beats halving.
const few = 8

func contains(values []string, value string) bool {
	if len(values) <= few {
		return slices.Contains(values, value)
	}
	_, found := slices.BinarySearch(values, value)
	return found
}

func keep(values []string, want func(string) bool) []string {
	unwanted := func(value string) bool { return !want(value) }
	if !slices.ContainsFunc(values, unwanted) {
		return values
	}
	var out []string
	for _, value := range values {
		if want(value) {
			out = append(out, value)
		}
	}
	return slices.Clip(out)
}

func common(a, b []string) []string {
	if len(a) > len(b) {
		a, b = b, a
	}
	return keep(a, func(value string) bool { return contains(b, value) })
}

func haveCommon(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b) > few*len(a) {
		return slices.ContainsFunc(a, func(value string) bool { return contains(b, value) })
	}
	for len(a) > 0 && len(b) > 0 {
		switch order := strings.Compare(a[0], b[0]); {
		case order == 0:
			return true
		case order < 0:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return false
}

func union(a, b []string) []string {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0 || slices.Equal(a, b):
		return a
	}
	return sortedUnique(slices.Concat(a, b))
}
