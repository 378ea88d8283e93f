package v1

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"tenon/api/scalar"
)

// Never is the text of a duration that does not end.
const Never = "Never"

// NillableDuration is a duration or Never. It remembers how the user wrote it, so that "24h" is
// not written back as "24h0m0s" and tools that compare manifests with the cluster see no
// difference. The zero value means that none was given; it is written as Never.
//
// +kubebuilder:validation:Type=string
type NillableDuration struct {
	// Duration is nil for Never.
	Duration *time.Duration `json:"-"`
	// Raw is the JSON text that was read, empty if none was.
	Raw []byte `json:"-" hash:"ignore"`
}

// DurationOf returns a duration that was computed and not written by a user.
func DurationOf(d time.Duration) NillableDuration { return NillableDuration{Duration: &d} }

// NeverEnding returns a duration that is explicitly Never.
func NeverEnding() NillableDuration { return NillableDuration{Raw: []byte(`"` + Never + `"`)} }

// IsSet tells whether a duration or Never was given.
func (d NillableDuration) IsSet() bool { return d.Duration != nil || len(d.Raw) > 0 }

// UnmarshalJSON reads a Go duration or Never. As for all API types, null is like an absent value.
func (d *NillableDuration) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*d = NillableDuration{}
		return nil
	}
	var written string
	if err := json.Unmarshal(text, &written); err != nil {
		return fmt.Errorf("duration %s: %w", text, err)
	}
	read := NillableDuration{Raw: bytes.Clone(text)}
	if written != Never {
		duration, err := scalar.ParseDuration(written)
		if err != nil {
			return fmt.Errorf("duration %s: want a number of hours, minutes and seconds such as 24h, or %s: %w", text, Never, err)
		}
		read.Duration = &duration
	}
	*d = read
	return nil
}

// MarshalJSON writes the text that was read, byte for byte. Without one it writes the duration, or Never.
func (d NillableDuration) MarshalJSON() ([]byte, error) {
	switch {
	case len(d.Raw) > 0:
		return bytes.Clone(d.Raw), nil
	case d.Duration != nil:
		return json.Marshal(d.Duration.String())
	default:
		return json.Marshal(Never)
	}
}

// String returns the duration as the user wrote it.
func (d NillableDuration) String() string {
	text, err := d.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(bytes.Trim(text, `"`))
}
