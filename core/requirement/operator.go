package requirement

import (
	"fmt"
	"math"
	"slices"
)

// Operator is how a user relates a key to values.
type Operator string

// The operators that pools know. Pods know all but Gte and Lte.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	Gt           Operator = "Gt"
	Lt           Operator = "Lt"
	Gte          Operator = "Gte"
	Lte          Operator = "Lte"
)

// Operators are all operators, sorted.
func Operators() []Operator {
	return []Operator{DoesNotExist, Exists, Gt, Gte, In, Lt, Lte, NotIn}
}

// Known reports whether o is one of the operators.
func (o Operator) Known() bool { return slices.Contains(Operators(), o) }

// Numeric reports whether o compares integers.
func (o Operator) Numeric() bool { return o == Gt || o == Lt || o == Gte || o == Lte }

// Entry is a requirement as users write it.
type Entry struct {
	Key      string   `json:"key"`
	Operator Operator `json:"operator"`
	Values   []string `json:"values,omitempty"`
	// MinValues is how many different values must stay possible; 0 asks for none.
	MinValues int `json:"minValues,omitempty"`
}

// Parse reads an entry. It refuses what has no meaning: an unknown operator, or a
// numeric operator without exactly one integer. Whether users may write the entry at
// all is the business of Vocabulary.Validate, which is stricter.
func Parse(e Entry) (Requirement, error) {
	if !e.Operator.Known() {
		return Requirement{}, fmt.Errorf("requirement on %q: unknown operator %q", e.Key, e.Operator)
	}
	if e.MinValues < 0 {
		return Requirement{}, fmt.Errorf("requirement on %q: minValues %d is negative", e.Key, e.MinValues)
	}
	if e.Operator.Numeric() {
		if len(e.Values) != 1 {
			return Requirement{}, fmt.Errorf("requirement on %q: operator %s takes one value, not %d", e.Key, e.Operator, len(e.Values))
		}
		if _, ok := integer(e.Values[0]); !ok {
			return Requirement{}, fmt.Errorf("requirement on %q: operator %s takes an integer, not %q", e.Key, e.Operator, e.Values[0])
		}
	}
	r := New(e.Key, e.Operator, e.Values...)
	if e.Operator.Numeric() && r.Impossible() {
		return r, nil // beyond the largest integer there are no values to count
	}
	return r.WithMinValues(e.MinValues), nil
}

// New makes a requirement for facts that are known to be well formed. It is total: where
// Parse would refuse, New gives a requirement that nothing can satisfy.
func New(key string, operator Operator, values ...string) Requirement {
	switch operator {
	case In:
		return Requirement{key: key, values: sortedUnique(values)}
	case NotIn:
		// Nothing excluded reads as Exists, which does not admit absence.
		excluded := sortedUnique(values)
		return Requirement{key: key, complement: true, values: excluded, absent: len(excluded) > 0}
	case Exists:
		return Requirement{key: key, complement: true}
	case DoesNotExist:
		return Requirement{key: key, absent: true}
	case Gt, Lt, Gte, Lte:
		if len(values) == 1 {
			if n, ok := integer(values[0]); ok {
				return bounded(key, operator, n)
			}
		}
	}
	return impossible(key)
}

// bounded makes a numeric requirement. Beyond the largest and below the smallest integer
// there is nothing, so Gt and Lt of those cannot be satisfied.
func bounded(key string, operator Operator, n int64) Requirement {
	r := Requirement{key: key, complement: true}
	switch {
	case operator == Gt && n == math.MaxInt64, operator == Lt && n == math.MinInt64:
		return impossible(key)
	case operator == Gt:
		r.bounds.low = limit{n + 1, true}
	case operator == Lt:
		r.bounds.high = limit{n - 1, true}
	case operator == Gte:
		r.bounds.low = limit{n, true}
	default:
		r.bounds.high = limit{n, true}
	}
	return r
}

func impossible(key string) Requirement { return Requirement{key: key} }
