package cloud_test

import (
	"strings"
	"testing"
	"time"

	"tenon/cloud"
	"tenon/core/requirement"
)

func valid() cloud.Description {
	return cloud.Description{
		Name:             "test",
		Words:            requirement.Words{WellKnown: []string{"test.dev/reservation"}},
		Classes:          []cloud.ClassKind{{Group: "test.dev", Version: "v1", Kind: "TestClass"}},
		ReservationLabel: "test.dev/reservation",
		ReservedLabels:   []string{"test.dev/reservation"},
		Repairs:          []cloud.RepairPolicy{{Condition: "Ready", Status: "False", Toleration: time.Minute}},
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	negative := -time.Second
	cases := map[string]struct {
		change func(*cloud.Description)
		want   string // part of the error; empty for none
	}{
		"all there":                    {func(*cloud.Description) {}, ""},
		"no reservations":              {func(d *cloud.Description) { d.ReservationLabel, d.ReservedLabels = "", nil }, ""},
		"no name":                      {func(d *cloud.Description) { d.Name = "" }, "no name"},
		"no class":                     {func(d *cloud.Description) { d.Classes = nil }, "no kind of node class"},
		"a class without a version":    {func(d *cloud.Description) { d.Classes[0].Version = "" }, "want group, version and kind"},
		"label apart":                  {func(d *cloud.Description) { d.ReservedLabels = nil }, "is not among the reserved labels"},
		"label unknown":                {func(d *cloud.Description) { d.Words = requirement.Words{} }, "is not well-known"},
		"launch timeout":               {func(d *cloud.Description) { d.LaunchTimeout = negative }, "the launch timeout is negative"},
		"visible":                      {func(d *cloud.Description) { d.VisibleWithin = negative }, "the time to become visible is negative"},
		"grace":                        {func(d *cloud.Description) { d.TerminationGracePeriod = &negative }, "the termination grace period is negative"},
		"types":                        {func(d *cloud.Description) { d.MaxInstanceTypes = -1 }, "the number of instance types is negative"},
		"repair of nothing":            {func(d *cloud.Description) { d.Repairs[0].Condition = "" }, "without a condition"},
		"repair of a strange status":   {func(d *cloud.Description) { d.Repairs[0].Status = "Maybe" }, `"Maybe" is not`},
		"repair that tolerates naught": {func(d *cloud.Description) { d.Repairs[0].Toleration = 0 }, "tolerating nothing"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := valid()
			tc.change(&d)
			err := d.Validate()
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("error %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestDescriptionFillsIn(t *testing.T) {
	t.Parallel()
	filled := valid().WithDefaults()
	if filled.LaunchTimeout != 5*time.Minute || filled.MaxInstanceTypes != 600 {
		t.Errorf("defaults %v and %d", filled.LaunchTimeout, filled.MaxInstanceTypes)
	}
	said := cloud.Description{LaunchTimeout: time.Hour, MaxInstanceTypes: 7}.WithDefaults()
	if said.LaunchTimeout != time.Hour || said.MaxInstanceTypes != 7 {
		t.Errorf("what was said became %v and %d", said.LaunchTimeout, said.MaxInstanceTypes)
	}
	if d := valid(); !d.Supports(d.Classes[0].Ref("default")) || d.Supports(cloud.ClassRef{Group: "other", Kind: "TestClass"}) {
		t.Error("classes are told apart by their name, or not by their group")
	}
	words := valid().Vocabulary()
	if !words.IsWellKnown("test.dev/reservation") || !words.IsWellKnown(requirement.KeyZone) {
		t.Error("the vocabulary is not the core's and the provider's")
	}
}

// Conditions of API objects: a letter first, then letters, digits, "_", "," and ":", and
// neither of the last two at the end.
func TestValidReason(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"AMIDrift": true, "a": true, "A_b,c:d9": true, "A_": true,
		"": false, "9lives": false, "Ends:": false, "two words": false, "dash-ed": false,
		strings.Repeat("a", 1024): true, strings.Repeat("a", 1025): false,
	} {
		if got := cloud.ValidReason(text); got != want {
			t.Errorf("ValidReason(%.20q…) is %t", text, got)
		}
	}
}
