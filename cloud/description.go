package cloud

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"tenon/core/requirement"
)

// Description is what a provider says of itself. It is data: no provider sets variables of
// another package, and nothing happens at start-up.
type Description struct {
	// Name is the label `provider` of metrics, and what people read: "aws".
	Name string
	// Words are what the provider adds to the core's vocabulary: its well-known labels,
	// domains that users may not write, other spellings of keys and values.
	Words requirement.Words
	// Classes are the kinds of node classes; the first is the default.
	Classes []ClassKind
	// ReservationLabel is the key under which an offering of a reservation has its ID;
	// empty if there are no reservations. ReservedLabels are all keys that only reserved
	// offerings have, that one included: on all other offerings they do not exist.
	ReservationLabel string
	ReservedLabels   []string
	// UnsupportedDrivers are CSI drivers and provisioners whose volumes nodes cannot
	// attach; UnsupportedVolumeKeys are topology keys of volumes that no node has.
	UnsupportedDrivers    []string
	UnsupportedVolumeKeys []string
	// LaunchTimeout is how long a claim may take to become an instance; zero means DefaultLaunchTimeout.
	LaunchTimeout time.Duration
	// MaxInstanceTypes is how many types a claim may name; zero means DefaultMaxInstanceTypes.
	MaxInstanceTypes int
	// TerminationGracePeriod is for claims without one; nil leaves them without one.
	TerminationGracePeriod *time.Duration
	// VisibleWithin is how far the answers of Get and List may lag behind.
	VisibleWithin time.Duration
	// Currency of prices, as ISO 4217 has it; empty if it is not known.
	Currency string
	// Repairs lists the conditions of unhealthy nodes; an empty list disables node repair.
	Repairs []RepairPolicy
}

// Defaults for a Description.
const (
	DefaultLaunchTimeout    = 5 * time.Minute
	DefaultMaxInstanceTypes = 600
)

// ClassKind is a kind of node classes.
type ClassKind struct {
	Group, Version, Kind string
}

// Ref names a class of this kind.
func (k ClassKind) Ref(name string) ClassRef {
	return ClassRef{Group: k.Group, Kind: k.Kind, Name: name}
}

// RepairPolicy says that Tenon replaces a node that has had a condition for longer than tolerated.
type RepairPolicy struct {
	Condition  string // its type
	Status     string // the unhealthy one: True, False or Unknown
	Toleration time.Duration
}

// DriftReason is why an instance has drifted, as a reason for a condition: "AMIDrift". It is empty for an
// instance that has not drifted.
type DriftReason string

// Vocabulary returns the core's vocabulary with the provider's words.
func (d Description) Vocabulary() requirement.Vocabulary { return requirement.Core().With(d.Words) }

// WithDefaults returns d with defaults for its empty fields.
func (d Description) WithDefaults() Description {
	if d.LaunchTimeout == 0 {
		d.LaunchTimeout = DefaultLaunchTimeout
	}
	if d.MaxInstanceTypes == 0 {
		d.MaxInstanceTypes = DefaultMaxInstanceTypes
	}
	return d
}

// Supports reports whether the class is of one of the provider's kinds.
func (d Description) Supports(class ClassRef) bool {
	for _, k := range d.Classes {
		if k.Group == class.Group && k.Kind == class.Kind {
			return true
		}
	}
	return false
}

// Validate returns everything that is wrong with d.
func (d Description) Validate() error {
	return errors.Join(d.validateNames(), d.validateLabels(), d.validateTimes(), d.validateRepairs())
}

func (d Description) validateNames() error {
	var wrong []error
	if d.Name == "" {
		wrong = append(wrong, errors.New("the provider has no name"))
	}
	if len(d.Classes) == 0 {
		wrong = append(wrong, errors.New("no kind of node class is supported"))
	}
	for _, k := range d.Classes {
		if k.Group == "" || k.Version == "" || k.Kind == "" {
			wrong = append(wrong, fmt.Errorf("node class %+v: want group, version and kind", k))
		}
	}
	return errors.Join(wrong...)
}

// validateLabels checks that claims can ask for the labels that distinguish reservations.
func (d Description) validateLabels() error {
	var wrong []error
	reserved := requirement.NewKeySet(d.ReservedLabels...)
	if d.ReservationLabel != "" && !reserved.Contains(d.ReservationLabel) {
		wrong = append(wrong, fmt.Errorf("label %s of reservations is not among the reserved labels", d.ReservationLabel))
	}
	for _, key := range reserved.Sorted() {
		if !d.Vocabulary().IsWellKnown(key) {
			wrong = append(wrong, fmt.Errorf("reserved label %s is not well-known", key))
		}
	}
	return errors.Join(wrong...)
}

func (d Description) validateTimes() error {
	var wrong []error
	note := func(name string, negative bool) {
		if negative {
			wrong = append(wrong, fmt.Errorf("the %s is negative", name))
		}
	}
	note("launch timeout", d.LaunchTimeout < 0)
	note("number of instance types", d.MaxInstanceTypes < 0)
	note("termination grace period", d.TerminationGracePeriod != nil && *d.TerminationGracePeriod < 0)
	note("time to become visible", d.VisibleWithin < 0)
	return errors.Join(wrong...)
}

func (d Description) validateRepairs() error {
	var wrong []error
	for _, p := range d.Repairs {
		switch {
		case p.Condition == "":
			wrong = append(wrong, errors.New("repair policy without a condition"))
		case p.Status != "True" && p.Status != "False" && p.Status != "Unknown":
			wrong = append(wrong, fmt.Errorf("repair policy for %s: status %q is not True, False or Unknown", p.Condition, p.Status))
		case p.Toleration <= 0:
			wrong = append(wrong, fmt.Errorf("repair policy for %s=%s: tolerating nothing replaces nodes that only start", p.Condition, p.Status))
		}
	}
	return errors.Join(wrong...)
}

// conditionReason is what the API server accepts as the reason of a condition.
var conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// ValidReason reports whether text can be the reason of a condition.
func ValidReason(text string) bool {
	return len(text) <= 1024 && conditionReason.MatchString(text)
}
