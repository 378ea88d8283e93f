package requirement

import (
	"fmt"
	"maps"
	"slices"
)

// Variety counts the different values that instance types offer for the keys on which a
// set asks for a minimum. Make one for each question and Add the types in order of
// preference; Met tells when there are enough. Only what a type itself declares counts,
// whether or not the set would take the value; types that declare none count for none.
type Variety struct {
	wanted []Requirement
	seen   []map[string]struct{} // by index into wanted
}

// NewVariety counts for the minimums in s.
func NewVariety(s Set) *Variety {
	v := &Variety{}
	for _, r := range s.list {
		if r.minValues > 0 {
			v.wanted = append(v.wanted, r)
			v.seen = append(v.seen, map[string]struct{}{})
		}
	}
	return v
}

// Add counts what one type declares.
func (v *Variety) Add(declared Set) {
	for i := range v.wanted {
		at, found := declared.search(v.wanted[i].key, 0)
		if !found || declared.list[at].complement {
			continue
		}
		for _, value := range declared.list[at].values {
			v.seen[i][value] = struct{}{}
		}
	}
}

// Fork is a counter that goes on from here by itself.
func (v *Variety) Fork() *Variety {
	seen := make([]map[string]struct{}, len(v.seen))
	for i := range v.seen {
		seen[i] = maps.Clone(v.seen[i])
	}
	return &Variety{wanted: v.wanted, seen: seen}
}

// Met reports whether every minimum is reached.
func (v *Variety) Met() bool {
	for i := range v.wanted {
		if len(v.seen[i]) < v.wanted[i].minValues {
			return false
		}
	}
	return true
}

// Shortfalls are the minimums that are not reached, in the order of their keys.
func (v *Variety) Shortfalls() Shortfalls {
	var out Shortfalls
	for i, r := range v.wanted {
		if have := len(v.seen[i]); have < r.minValues {
			out = append(out, Shortfall{Key: r.key, Want: r.minValues, Have: have})
		}
	}
	return out
}

// Shortfall is a minimum of values that is not reached.
type Shortfall struct {
	Key        string
	Want, Have int
}

// Shortfalls are all of them at once.
type Shortfalls []Shortfall

// String is the text for people; empty when nothing is short.
func (s Shortfalls) String() string {
	if len(s) == 0 {
		return ""
	}
	keys := make([]string, len(s))
	for i := range s {
		keys[i] = s[i].Key
	}
	return fmt.Sprintf("minValues requirement is not met for label(s) (label(s)=%v)", keys)
}

// Lowered is the set with every unmet minimum lowered to what was achieved, for pools that prefer less
// choice to no node.
func (s Set) Lowered(short Shortfalls) Set {
	list := slices.Clone(s.list)
	for _, shortfall := range short {
		if i, found := s.search(shortfall.Key, 0); found {
			list[i] = list[i].WithMinValues(shortfall.Have)
		}
	}
	return Set{list}
}
