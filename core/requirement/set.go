package requirement

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"tenon/core/order"
)

// Set is what is asked of a node's labels: at most one requirement for each key. The
// zero value asks for nothing. Sets are values: With, Without and Intersect leave their
// operands as they are.
type Set struct{ list []Requirement } // sorted by key, each key once

// NewSet makes a set. Requirements on the same key intersect.
func NewSet(requirements ...Requirement) Set { return setOf(slices.Clone(requirements)) }

// FromLabels asks for exactly these labels. It serves node selectors and the labels of
// nodes alike; keys and values are taken as they are (see Vocabulary.FromLabels).
func FromLabels(labels map[string]string) Set {
	list := make([]Requirement, 0, len(labels))
	values := make([]string, 0, len(labels)) // one array for all the sets of one
	for _, key := range order.Keys(labels) {
		values = append(values, labels[key])
		last := len(values)
		list = append(list, Requirement{key: key, values: values[last-1 : last : last]})
	}
	return Set{list}
}

// setOf takes over the list.
func setOf(list []Requirement) Set {
	slices.SortStableFunc(list, func(a, b Requirement) int { return strings.Compare(a.key, b.key) })
	merged := list[:0]
	for _, r := range list {
		if last := len(merged) - 1; last >= 0 && merged[last].key == r.key {
			merged[last] = merged[last].Intersect(r)
		} else {
			merged = append(merged, r)
		}
	}
	return Set{slices.Clip(merged)}
}

// With is s and the requirements; those on the same key intersect.
func (s Set) With(requirements ...Requirement) Set {
	switch len(requirements) {
	case 0:
		return s
	case 1:
		return s.Intersect(Set{requirements})
	}
	return s.Intersect(NewSet(requirements...))
}

// Without is s without anything on the keys.
func (s Set) Without(keys ...string) Set {
	return Set{slices.DeleteFunc(slices.Clone(s.list), func(r Requirement) bool {
		return slices.Contains(keys, r.key)
	})}
}

// Replaced is s with r in place of what it had on r's key.
func (s Set) Replaced(r Requirement) Set {
	i, found := s.search(r.key, 0)
	if found {
		list := slices.Clone(s.list)
		list[i] = r
		return Set{list}
	}
	return Set{slices.Insert(slices.Clone(s.list), i, r)}
}

// Intersect is the set that asks for all that s and o ask for.
func (s Set) Intersect(o Set) Set {
	switch {
	case len(o.list) == 0:
		return s
	case len(s.list) == 0:
		return Set{slices.Clone(o.list)}
	}
	out := make([]Requirement, 0, len(s.list)+len(o.list))
	mine, theirs := s.list, o.list
	for len(mine) > 0 && len(theirs) > 0 {
		switch first := strings.Compare(mine[0].key, theirs[0].key); {
		case first == 0:
			out = append(out, mine[0].Intersect(theirs[0]))
			mine, theirs = mine[1:], theirs[1:]
		case first < 0:
			out = append(out, mine[0])
			mine = mine[1:]
		default:
			out = append(out, theirs[0])
			theirs = theirs[1:]
		}
	}
	return Set{append(append(out, mine...), theirs...)}
}

// search finds the place of key at or after from.
func (s Set) search(key string, from int) (int, bool) {
	low, high := from, len(s.list)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if s.list[middle].key < key {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < len(s.list) && s.list[low].key == key
}

// Get is the requirement on key. What is not defined reads as Exists; ask Has to tell
// whether it is, since a key without a requirement may also be absent.
func (s Set) Get(key string) Requirement {
	if i, found := s.search(key, 0); found {
		return s.list[i]
	}
	return Requirement{key: key, complement: true}
}

// Has reports whether s says anything about key.
func (s Set) Has(key string) bool {
	_, found := s.search(key, 0)
	return found
}

// Len is the number of keys that s is about.
func (s Set) Len() int { return len(s.list) }

// IsZero reports whether s asks for nothing.
func (s Set) IsZero() bool { return len(s.list) == 0 }

// All ranges over the requirements in the order of their keys.
func (s Set) All() iter.Seq[Requirement] { return slices.Values(s.list) }

// Keys are the keys that s is about, sorted. The caller owns the slice.
func (s Set) Keys() []string {
	keys := make([]string, len(s.list))
	for i := range s.list {
		keys[i] = s.list[i].key
	}
	return keys
}

// Impossible reports whether no node at all can satisfy s.
func (s Set) Impossible() bool { return slices.ContainsFunc(s.list, Requirement.Impossible) }

// Equal reports whether s and o ask for the same, minimums included.
func (s Set) Equal(o Set) bool { return slices.EqualFunc(s.list, o.list, Requirement.Equal) }

// Entries write s as users write requirements, in the order of the keys.
func (s Set) Entries() []Entry {
	var entries []Entry
	for _, r := range s.list {
		entries = append(entries, r.Entries()...)
	}
	return entries
}

// String shows the requirements in the order of their keys, separated by commas. The
// hostname is left out, since solvers use it for placeholders that mean nothing to users.
func (s Set) String() string {
	var text []byte
	for i := range s.list {
		if s.list[i].key == KeyHostname {
			continue
		}
		if len(text) > 0 {
			text = append(text, ", "...)
		}
		text = s.list[i].appendText(text)
	}
	return string(text)
}

// MarshalJSON writes s without loss. Equal sets give the same bytes.
func (s Set) MarshalJSON() ([]byte, error) {
	out := []byte{'['}
	for i := range s.list {
		if i > 0 {
			out = append(out, ',')
		}
		out = s.list[i].document().append(out)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON reads a list of requirements, in any order.
func (s *Set) UnmarshalJSON(data []byte) error {
	var list []Requirement
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("read requirements: %w", err)
	}
	*s = setOf(list)
	return nil
}
