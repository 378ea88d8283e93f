package requirement

import "strconv"

// Code is the kind of a mismatch.
type Code uint8

const (
	// Agreement is the zero value: nothing is wrong.
	Agreement Code = iota
	// Undefined: the label is not there, and must be.
	Undefined
	// Conflict: both sides speak about the label and nothing satisfies both.
	Conflict
	// Contradiction: what is asked of the label excludes everything by itself.
	Contradiction
)

// String names the code.
func (c Code) String() string {
	switch c {
	case Agreement:
		return "Agreement"
	case Undefined:
		return "Undefined"
	case Conflict:
		return "Conflict"
	case Contradiction:
		return "Contradiction"
	}
	return "Code(" + strconv.Itoa(int(c)) + ")"
}

// Mismatch is why one set of requirements cannot be met where another holds. It is made
// without allocation and refers to the sets that it is about; switch on its Code and
// render it only for people.
type Mismatch struct {
	code     Code
	incoming *Requirement
	existing *Requirement // of a Conflict
	defined  Set          // of an Undefined, for the hint
	known    KeySet       // of an Undefined, for the hint
}

// Code is the kind of mismatch.
func (m Mismatch) Code() Code { return m.code }

// Key is the label that it is about.
func (m Mismatch) Key() string { return m.Incoming().key }

// Incoming is what was asked of the label.
func (m Mismatch) Incoming() Requirement {
	if m.incoming == nil {
		return Requirement{}
	}
	return *m.incoming
}

// Existing is what a Conflict is with.
func (m Mismatch) Existing() Requirement {
	if m.existing == nil {
		return Requirement{}
	}
	return *m.existing
}

// Error makes a mismatch an error, for those who must return one.
func (m Mismatch) Error() string { return m.String() }

// String is the text for people.
func (m Mismatch) String() string {
	key := m.Key()
	switch m.code {
	case Undefined:
		text := "label " + strconv.Quote(key) + " does not have known values"
		if other, ok := m.Hint(); ok {
			text += " (typo of " + strconv.Quote(other) + "?)"
		}
		return text
	case Conflict:
		return "key " + key + ", " + m.incoming.String() + " not in " + m.existing.String()
	case Contradiction:
		return "key " + key + ", its requirements exclude every value"
	}
	return ""
}

// Hint is the key that the user may have meant by an Undefined one.
func (m Mismatch) Hint() (string, bool) {
	if m.code != Undefined {
		return "", false
	}
	return closest(m.Key(), m.known.With(m.defined.Keys()...))
}
