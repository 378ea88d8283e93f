package requirement

import (
	"iter"
	"math"
	"slices"
	"strconv"
)

// Requirement says what the value of one label may be. It is immutable and may be
// copied and shared freely. Two requirements that were made by different routes and
// hold the same parts are Equal; the zero value is impossible on the empty key.
type Requirement struct {
	key string
	// values are the admitted ones or, in a complement, the excluded ones: sorted, no
	// value twice, nil rather than empty, and in a complement all within bounds.
	values     []string
	bounds     bounds // of complements only, and never crossed
	minValues  int
	complement bool
	// absent is set when a node without the label will do. It is set only for a
	// concrete set without values (DoesNotExist) and for an unbounded complement that
	// excludes something (NotIn).
	absent bool
}

// Key is the label's key.
func (r Requirement) Key() string { return r.key }

// Operator is the operator that describes r best; a range reads as Exists, and so does
// NotIn without values. A requirement that nothing can satisfy reads as DoesNotExist:
// Impossible tells the two apart.
func (r Requirement) Operator() Operator {
	switch {
	case r.complement && len(r.values) > 0:
		return NotIn
	case r.complement:
		return Exists
	case len(r.values) > 0:
		return In
	}
	return DoesNotExist
}

// Values are the listed values, sorted: those admitted by In, those excluded by NotIn.
// The caller owns the slice.
func (r Requirement) Values() []string { return slices.Clone(r.values) }

// All ranges over the listed values, sorted, without copying them.
func (r Requirement) All() iter.Seq[string] { return slices.Values(r.values) }

// Single is the one value that r admits, if r is a set of exactly one.
func (r Requirement) Single() (string, bool) {
	if r.complement || len(r.values) != 1 {
		return "", false
	}
	return r.values[0], true
}

// Len is the number of values that are possible. A complement has no end of them: the
// largest integer, less those excluded, stands for that.
func (r Requirement) Len() int {
	if r.complement {
		return math.MaxInt - len(r.values)
	}
	return len(r.values)
}

// Complement reports whether the listed values are the excluded ones.
func (r Requirement) Complement() bool { return r.complement }

// AtLeast is the lower bound, if there is one.
func (r Requirement) AtLeast() (int64, bool) { return r.bounds.low.n, r.bounds.low.set }

// AtMost is the upper bound, if there is one.
func (r Requirement) AtMost() (int64, bool) { return r.bounds.high.n, r.bounds.high.set }

// MinValues is how many different values must stay possible; 0 when that was not asked.
func (r Requirement) MinValues() int { return r.minValues }

// WithMinValues is r with another minimum.
func (r Requirement) WithMinValues(n int) Requirement {
	r.minValues = max(n, 0)
	return r
}

// MayBeAbsent reports whether a node without the label satisfies r: NotIn and
// DoesNotExist do not mind, everything else needs a value.
func (r Requirement) MayBeAbsent() bool { return r.absent }

// Impossible reports whether neither a value nor absence satisfies r.
func (r Requirement) Impossible() bool {
	return !r.complement && !r.absent && len(r.values) == 0
}

// Has reports whether a label with this value satisfies r.
func (r Requirement) Has(value string) bool { return r.has(value) }

func (r *Requirement) has(value string) bool {
	if r.complement {
		return r.bounds.admit(value) && !contains(r.values, value)
	}
	return contains(r.values, value)
}

// Equal reports whether r and o ask for the same, including the minimum.
func (r Requirement) Equal(o Requirement) bool {
	return r.key == o.key && r.complement == o.complement && r.absent == o.absent &&
		r.minValues == o.minValues && r.bounds == o.bounds && slices.Equal(r.values, o.values)
}

// Any picks a value for a label that must be written down before it was chosen: the
// first of a set, otherwise the smallest integer that is not excluded, because only an
// integer can satisfy bounds. There is none for DoesNotExist, nor below zero, because a
// label's value cannot begin with a minus sign.
func (r Requirement) Any() (string, bool) {
	if r.complement {
		return r.smallestInteger()
	}
	if len(r.values) == 0 {
		return "", false
	}
	return r.values[0], true
}

// smallestInteger writes numbers with leading zeros once all plain ones are excluded:
// Kubernetes reads them as the same number, but tells the texts apart.
func (r *Requirement) smallestInteger() (string, bool) {
	low, high := int64(0), int64(math.MaxInt64)
	if r.bounds.low.set {
		low = max(low, r.bounds.low.n)
	}
	if r.bounds.high.set {
		high = r.bounds.high.n
	}
	if low > high {
		return "", false
	}
	for zeros := ""; ; zeros += "0" {
		for n := low; ; n++ {
			text := zeros + strconv.FormatInt(n, 10)
			if !contains(r.values, text) {
				return text, true
			}
			if n == high {
				break
			}
		}
	}
}
