// Package scalar reads the durations and quantities of custom resources. The API server stores every value
// that a definition's pattern accepts, and one stored object that cannot be decoded would make every list of
// its kind fail. So every value that a pattern accepts is readable here: a value that is too long becomes the
// longest one, and a meaningless one becomes a value that validation refuses on the object itself.
package scalar

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Longest is what durations beyond 292 years are cut to: the most hours that a time.Duration holds.
const Longest = math.MaxInt64 / time.Hour * time.Hour

// written is what the patterns of the definitions accept.
var written = regexp.MustCompile(`^([0-9]+(s|m|h))+$`)

// ParseDuration reads a duration such as 24h or 1h30m. One that is longer than Longest is Longest.
func ParseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil && written.MatchString(text) {
		return Longest, nil // numbers and units are right, so it is the size
	}
	return d, err
}

// Duration is a duration of an API object. Text that is not a duration is read as Unreadable.
//
// +kubebuilder:validation:Type=string
type Duration struct {
	time.Duration `json:"-"`
}

// Unreadable stands for text that is not a duration.
const Unreadable = time.Duration(math.MinInt64)

// Readable reports whether the text was a duration.
func (d Duration) Readable() bool { return d.Duration != Unreadable }

// UnmarshalJSON reads a duration.
func (d *Duration) UnmarshalJSON(text []byte) error {
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return fmt.Errorf("duration %s: %w", text, err)
	}
	read, err := ParseDuration(written)
	if err != nil {
		read = Unreadable
	}
	d.Duration = read
	return nil
}

// MarshalJSON writes a duration.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.Duration.String()) }

// Bounds on the text of quantities. Parsing takes time and memory in proportion to the text and its exponent:
// hours, for an exponent of ten digits.
const (
	mostDigits   = 64
	mostExponent = 3 // digits
)

// ParseQuantity is resource.ParseQuantity for unchecked text: it refuses a text of absurd size or exponent
// before it parses the text.
func ParseQuantity(text string) (resource.Quantity, error) {
	if len(text) > mostDigits {
		return resource.Quantity{}, fmt.Errorf("quantity of %d characters, at most %d are read", len(text), mostDigits)
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if exponent := strings.TrimLeft(text[at+1:], "+-"); len(exponent) > mostExponent {
			return resource.Quantity{}, fmt.Errorf("quantity %q: an exponent has at most %d digits", text, mostExponent)
		}
	}
	return resource.ParseQuantity(text)
}

// MaxAmount is the largest amount, in units (4 PiB). Nothing real is larger, and a thousand times as much still fits an
// int64, so thousandths do, and sums over many nodes. Quantities beyond an int64 are cut to it, because their own
// Value and MilliValue wrap around: 1e19 bytes would become 0.
const MaxAmount = int64(1) << 52

// Amount is a quantity in units, rounded up, from 0 to MaxAmount.
func Amount(q resource.Quantity) int64 {
	switch {
	case q.Sign() <= 0:
		return 0
	case q.CmpInt64(MaxAmount) > 0:
		return MaxAmount
	}
	return q.Value()
}

// MilliAmount is a quantity in thousandths, rounded up, from 0 to 1000 times MaxAmount.
func MilliAmount(q resource.Quantity) int64 {
	switch {
	case q.Sign() <= 0:
		return 0
	case q.CmpInt64(MaxAmount) > 0:
		return MaxAmount * 1000
	}
	return q.MilliValue()
}

// unreadable is less than every quantity that a user means: a limit of that size allows nothing.
const unreadable = math.MinInt64 + 1

// IsReadable reports whether the object's text was a quantity.
func IsReadable(q resource.Quantity) bool {
	value, small := q.AsInt64()
	return !small || value != unreadable
}

// CheckResources returns an error that names the first resource, by name, whose quantity cannot be read.
func CheckResources(list corev1.ResourceList) error {
	var found corev1.ResourceName
	for name, q := range list {
		if !IsReadable(q) && (found == "" || name < found) {
			found = name
		}
	}
	if found == "" {
		return nil
	}
	return fmt.Errorf("the quantity of %s cannot be read: want a number with at most %d characters, such as 100, 1500m, 64Gi or 1e3", found, mostDigits)
}

// Resources reads a list of resources. It marks a quantity that cannot be read, so that CheckResources
// finds it.
func Resources(text []byte) (corev1.ResourceList, error) {
	var raw map[corev1.ResourceName]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil || raw == nil {
		return nil, err
	}
	list := make(corev1.ResourceList, len(raw))
	for name, value := range raw {
		q, err := quantity(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list[name] = q
	}
	return list, nil
}

// quantity reads every form that a definition accepts for a quantity: text, or a whole number.
func quantity(value json.RawMessage) (resource.Quantity, error) {
	text := string(value)
	switch {
	case text == "null":
		return resource.Quantity{}, nil
	case strings.HasPrefix(text, `"`):
		if err := json.Unmarshal(value, &text); err != nil {
			return resource.Quantity{}, err
		}
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") || text == "true" || text == "false":
		return resource.Quantity{}, errors.New("a quantity is text or a number")
	}
	read, err := ParseQuantity(text)
	if err != nil {
		return *resource.NewQuantity(unreadable, resource.DecimalSI), nil
	}
	return read, nil
}
