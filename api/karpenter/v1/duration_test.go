package v1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	v1 "tenon/api/karpenter/v1"
)

// TestDurationKeepsItsText: "the original text is kept and re-serialised byte for byte".
func TestDurationKeepsItsText(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		never bool
		want  time.Duration
	}{
		`"24h"`:      {want: 24 * time.Hour},
		`"24h0m0s"`:  {want: 24 * time.Hour},
		`"1440m"`:    {want: 24 * time.Hour},
		`"0s"`:       {},
		`"30s30s"`:   {want: time.Minute},
		`"Never"`:    {never: true},
		`"\u0031h"`:  {want: time.Hour}, // the text may be escaped
		`"1h30m10s"`: {want: time.Hour + 30*time.Minute + 10*time.Second},
	}
	for text, tc := range cases {
		var d v1.NillableDuration
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if tc.never != (d.Duration == nil) || d.Duration != nil && *d.Duration != tc.want {
			t.Errorf("%s is read as %v", text, d.Duration)
		}
		if back, err := d.MarshalJSON(); err != nil || string(back) != text || !d.IsSet() {
			t.Errorf("%s is written as %s (%v)", text, back, err)
		}
	}
}

func TestDurationRefusesOtherText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"never"`, `"30d"`, `""`, `30`, `{}`, `"1h`} {
		var d v1.NillableDuration
		if err := json.Unmarshal([]byte(text), &d); err == nil || d.IsSet() {
			t.Errorf("%s is read as %v", text, d)
		}
	}
}

func TestDurationsThatWereNotRead(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]v1.NillableDuration{
		"Never":  {},
		"1h0m0s": v1.DurationOf(time.Hour),
	} {
		if got := d.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if d := v1.NeverEnding(); d.String() != "Never" || !d.IsSet() || d.Duration != nil {
		t.Errorf("NeverEnding is %v", d)
	}
	d := v1.DurationOf(time.Hour)
	if err := json.Unmarshal([]byte("null"), &d); err != nil || d.IsSet() {
		t.Errorf("null is read as %v (%v)", d, err)
	}
}

// FuzzDuration checks that a duration that can be read is written back unchanged.
func FuzzDuration(f *testing.F) {
	for _, seed := range []string{`"24h"`, `"Never"`, `null`, `"1h30m"`, `"-1h"`, `"9999999h"`, "\"\u00e9\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d v1.NillableDuration
		if json.Unmarshal([]byte(text), &d) != nil || !d.IsSet() {
			return
		}
		back, err := d.MarshalJSON()
		if err != nil || string(back) != strings.TrimSpace(text) {
			t.Errorf("%q is written as %q (%v)", text, back, err)
		}
	})
}
