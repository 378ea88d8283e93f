// Package bitset is a set of small integers: offerings, slots, nodes. A set is a slice
// of words, so that sets over the same universe are combined a word at a time.
package bitset

import "math/bits"

// Set is a fixed-size set of integers. Sets that are combined must have one size.
type Set []uint64

// New returns an empty set that can hold 0 … n-1.
func New(n int) Set { return make(Set, (n+63)/64) }

// Full returns the set of 0 … n-1.
func Full(n int) Set {
	s := New(n)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if n%64 != 0 {
		s[len(s)-1] = 1<<(n%64) - 1
	}
	return s
}

// Put adds i in place; only the set's maker may call it.
func (s Set) Put(i int) { s[i>>6] |= 1 << (i & 63) }

// Has reports whether i is in the set.
func (s Set) Has(i int) bool { return s[i>>6]&(1<<(i&63)) != 0 }

// And returns the intersection.
func (s Set) And(o Set) Set {
	out := make(Set, len(s))
	for i := range s {
		out[i] = s[i] & o[i]
	}
	return out
}

// Or returns the union.
func (s Set) Or(o Set) Set {
	out := make(Set, len(s))
	for i := range s {
		out[i] = s[i] | o[i]
	}
	return out
}

// Keep removes, in place, what is not in o; only the set's maker may call it.
func (s Set) Keep(o Set) {
	for i := range s {
		s[i] &= o[i]
	}
}

// Clone returns a copy.
func (s Set) Clone() Set { return append(Set(nil), s...) }

// Meets reports whether the sets share a member.
func (s Set) Meets(o Set) bool {
	for i := range s {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// Within reports whether every member is in o.
func (s Set) Within(o Set) bool {
	for i := range s {
		if s[i]&^o[i] != 0 {
			return false
		}
	}
	return true
}

// Empty reports whether there is no member.
func (s Set) Empty() bool {
	for _, w := range s {
		if w != 0 {
			return false
		}
	}
	return true
}

// Count returns the number of members.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the smallest member that is at least i, or -1.
func (s Set) Next(i int) int {
	if i >= len(s)*64 {
		return -1
	}
	w := i >> 6
	word := s[w] >> (i & 63)
	if word != 0 {
		return i + bits.TrailingZeros64(word)
	}
	for w++; w < len(s); w++ {
		if s[w] != 0 {
			return w<<6 + bits.TrailingZeros64(s[w])
		}
	}
	return -1
}

// All iterates over the members in ascending order.
func (s Set) All(yield func(int) bool) {
	for w, word := range s {
		for word != 0 {
			if !yield(w<<6 + bits.TrailingZeros64(word)) {
				return
			}
			word &= word - 1
		}
	}
}

// Equal reports whether both sets have the same members.
func (s Set) Equal(o Set) bool {
	for i := range s {
		if s[i] != o[i] {
			return false
		}
	}
	return true
}
