package model

import "slices"

// Selector picks pods by their labels. The zero value picks nothing, as an absent
// labelSelector does in an affinity term; All picks everything, as `{}` does.
type Selector struct {
	All         bool         `json:"all,omitempty"`
	Expressions []Expression `json:"expressions,omitempty"` // all must hold
}

// AllOf picks the pods that each of the selectors picks.
func AllOf(selectors ...Selector) Selector {
	var out Selector
	for _, s := range selectors {
		if s.nothing() {
			return Selector{}
		}
		out.Expressions = append(out.Expressions, s.Expressions...)
	}
	out.All = len(out.Expressions) == 0 && len(selectors) > 0
	return out
}

func (s Selector) nothing() bool { return !s.All && len(s.Expressions) == 0 }

// Expression is one condition on a label: In, NotIn, Exists or DoesNotExist.
// matchLabels become In with a single value.
type Expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"` // sorted
}

// Matches reports whether labels satisfy the selector.
func (s Selector) Matches(labels map[string]string) bool {
	if len(s.Expressions) == 0 {
		return s.All
	}
	for _, e := range s.Expressions {
		if !e.Matches(labels) {
			return false
		}
	}
	return true
}

// Matches reports whether labels satisfy the one expression.
func (e Expression) Matches(labels map[string]string) bool {
	value, present := labels[e.Key]
	switch e.Operator {
	case "In":
		return present && slices.Contains(e.Values, value)
	case "NotIn":
		return !present || !slices.Contains(e.Values, value)
	case "Exists":
		return present
	case "DoesNotExist":
		return !present
	}
	return false
}
