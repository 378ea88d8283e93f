package requirement_test

import (
	"math/rand/v2"
	"slices"
	"strconv"

	. "tenon/core/requirement"
)

// A slow and obvious second version of the algebra: a requirement is a predicate over what a
// node can say about one label. It shares no code with the package.

// outcome is a label's value, or that there is no label.
type outcome struct {
	value  string
	absent bool
}

// holds tells whether one entry accepts the outcome, as Kubernetes defines operators.
func holds(e Entry, o outcome) bool {
	switch e.Operator {
	case In:
		return !o.absent && slices.Contains(e.Values, o.value)
	case NotIn:
		if len(e.Values) == 0 {
			return !o.absent // the specification reads an empty NotIn as Exists
		}
		return o.absent || !slices.Contains(e.Values, o.value)
	case Exists:
		return !o.absent
	case DoesNotExist:
		return o.absent
	}
	want, err := strconv.ParseInt(e.Values[0], 10, 64)
	if err != nil {
		return false
	}
	have, err := strconv.ParseInt(o.value, 10, 64)
	if err != nil || o.absent {
		return false
	}
	switch e.Operator {
	case Gt:
		return have > want
	case Lt:
		return have < want
	case Gte:
		return have >= want
	default:
		return have <= want
	}
}

func allHold(entries []Entry, o outcome) bool {
	return !slices.ContainsFunc(entries, func(e Entry) bool { return !holds(e, o) })
}

// written are the values that generated entries mention.
var written = []string{"", "a", "b", "c", "-1", "0", "1", "2", "3", "03", "+3", "4", "1.5", "2x", maxInt, minInt, aboveMaxInt}

// universe has every written value and absence and, for each integer that bounds can
// tell apart and for texts, one spelling that no entry mentions. If two requirements
// share any outcome at all, they share one of these.
func universe() []outcome {
	out := []outcome{{absent: true}, {value: "unmentioned"}}
	for _, value := range written {
		out = append(out, outcome{value: value})
	}
	for n := -3; n <= 7; n++ {
		spelled := "000" + strconv.Itoa(n)
		if n < 0 {
			spelled = "-000" + strconv.Itoa(-n)
		}
		out = append(out, outcome{value: spelled})
	}
	return append(out, outcome{value: "1000"}, outcome{value: "-1000"},
		outcome{value: "000" + maxInt}, outcome{value: "-000" + minInt[1:]})
}

var operands = []string{"-2", "-1", "0", "1", "2", "3", "4", "5", maxInt, minInt}

func randomEntry(random *rand.Rand, key string) Entry {
	operators := Operators()
	e := Entry{Key: key, Operator: operators[random.IntN(len(operators))]}
	switch {
	case e.Operator.Numeric():
		e.Values = []string{operands[random.IntN(len(operands))]}
	case e.Operator == In || e.Operator == NotIn:
		for range random.IntN(6) {
			e.Values = append(e.Values, written[random.IntN(len(written))])
		}
	}
	if random.IntN(4) == 0 {
		e.MinValues = 1 + random.IntN(3)
	}
	return e
}

// randomEntries are some entries on one key.
func randomEntries(random *rand.Rand, key string) []Entry {
	entries := make([]Entry, 1+random.IntN(3))
	for i := range entries {
		entries[i] = randomEntry(random, key)
	}
	return entries
}

// meaning reads entries on one key.
func meaning(entries []Entry) Requirement {
	out, err := Parse(entries[0])
	for _, e := range entries[1:] {
		next, nextErr := Parse(e)
		out = out.Intersect(next)
		if nextErr != nil {
			err = nextErr
		}
	}
	if err != nil {
		panic(err) // the generator writes only what can be read
	}
	return out
}
