package requirement

import (
	"fmt"
	"strings"
)

// Problems are what is wrong with something that a user wrote. As an error they are
// joined the way that conditions and events show them.
type Problems []string

// Error joins the problems.
func (p Problems) Error() string { return strings.Join(p, "; ") }

// Err is p as an error, nil when nothing is wrong.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Restriction is the text for a key that users may not write, and false for all others.
func (v Vocabulary) Restriction(key string) (string, bool) {
	if !v.IsRestricted(key) {
		return "", false
	}
	return fmt.Sprintf("using label %s is not allowed as it might interfere with the internal provisioning logic; "+
		"specify a well known label: %v, or a custom label that does not use a restricted domain: %v",
		key, v.wellKnown.Sorted(), v.restrictedDomains.Sorted()), true
}

// Validate judges one requirement that a user wrote, in a pool or, as node selector or
// required node affinity, in a pod. Each problem stands for itself; a pool wraps them
// one by one.
func (v Vocabulary) Validate(e Entry) Problems {
	e = v.Entry(e)
	var problems Problems
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !e.Operator.Known() {
		add("key %s has an unsupported operator %s not in %s", e.Key, e.Operator, Operators())
	}
	if restriction, restricted := v.Restriction(e.Key); restricted {
		add("%s", restriction)
	}
	if problem, found := v.unknownValues(e); found {
		add("%s", problem)
	}
	for _, problem := range KeyProblems(e.Key) {
		add("key %s is not a qualified name, %s", e.Key, problem)
	}
	for _, value := range e.Values {
		for _, problem := range ValueProblems(value) {
			add("invalid value %s for key %s, %s", value, e.Key, problem)
		}
	}
	if e.Operator == In && len(e.Values) == 0 {
		add("key %s with operator %s must have a value defined", e.Key, e.Operator)
	}
	if e.Operator == In && len(e.Values) < e.MinValues {
		add("key %s with operator %s must have at least minimum number of values defined in 'values' field", e.Key, e.Operator)
	}
	if e.Operator.Numeric() && !isOneCount(e.Values) {
		add("key %s with operator %s must have a single positive integer value", e.Key, e.Operator)
	}
	return problems
}

func isOneCount(values []string) bool {
	if len(values) != 1 {
		return false
	}
	n, ok := integer(values[0])
	return ok && n >= 0
}

// unknownValues judges the values of a key whose values are all known. Unknown values
// beside enough known ones do no harm: UnknownValues finds them, for a warning.
func (v Vocabulary) unknownValues(e Entry) (string, bool) {
	known, listed := v.knownValues[e.Key]
	if !listed || e.Operator != In {
		return "", false
	}
	valid, unknown := split(e.Values, known)
	switch {
	case len(valid) == 0:
		return fmt.Sprintf("no valid values found in %v for %s, expected one of: %v, got: %v",
			e.Values, e.Key, known.Sorted(), unknown), true
	case len(valid) < e.MinValues:
		return fmt.Sprintf("not enough valid values found in %v for %s, expected at least %d valid values from: %v, got: %v",
			e.Values, e.Key, e.MinValues, known.Sorted(), valid), true
	}
	return "", false
}

// UnknownValues are the values of an In that the key can never have.
func (v Vocabulary) UnknownValues(e Entry) []string {
	e = v.Entry(e)
	known, listed := v.knownValues[e.Key]
	if !listed || e.Operator != In {
		return nil
	}
	_, unknown := split(e.Values, known)
	return unknown
}

func split(values []string, known KeySet) (valid, unknown []string) {
	for _, value := range values {
		if known.Contains(value) {
			valid = append(valid, value)
		} else {
			unknown = append(unknown, value)
		}
	}
	return valid, unknown
}
