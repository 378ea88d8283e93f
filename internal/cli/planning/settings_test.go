package planning

import (
	"reflect"
	"slices"
	"testing"

	"tenon/core/snapshot"
	"tenon/internal/settings"
)

// choices are values that change some setting on which decisions depend. A field of snapshot.Settings that none
// of them changes fails the test below: its values are added here.
var choices = []string{
	"Ignore", "Weigh", "BestEffort", "true", "false",
	"ReservedCapacity=false", "SpotToSpotConsolidation=true", "StaticCapacity=true", "least-waste", "100", "1:2",
}

// notSettings are the fields of snapshot.Settings that are not options.
var notSettings = []string{"WellKnown"}

// What a decision of the controller depends on, "tenon plan" takes as a flag, and the flag replaces what a
// saved snapshot says.
func TestPlansTakeTheSettingsOfDecisions(t *testing.T) {
	t.Parallel()
	unset := func(string) (string, bool) { return "", false }
	base, _, err := settings.Parse(nil, unset)
	if err != nil {
		t.Fatal(err)
	}
	job := func(s settings.Settings, given string) *job {
		return &job{Options: Options{Snapshot: "saved.json", Settings: s, Given: func(flag string) bool { return flag == given }}}
	}
	saved := base.Decision()
	replaced := map[string]bool{}
	for _, option := range settings.Options() {
		for _, choice := range choices {
			s, _, err := settings.Parse([]string{"--" + option.Flag + "=" + choice}, unset)
			if err != nil {
				continue // not a value of this one
			}
			got := changes(saved, job(s, option.Flag).decisionSettings(saved))
			for _, field := range got {
				replaced[field] = true
			}
			want := changes(saved, s.Decision())
			if len(want) > 0 && !option.Plan {
				t.Errorf("--%s changes %v of decisions, and is no flag of tenon plan: set Plan in its row", option.Flag, want)
			}
			for _, field := range want {
				if !slices.Contains(got, field) {
					t.Errorf("--%s=%s changes %s of decisions, but not that of a saved snapshot: see decisionSettings", option.Flag, choice, field)
				}
			}
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[snapshot.Settings]()) {
		if !replaced[field.Name] && !slices.Contains(notSettings, field.Name) {
			t.Errorf("no flag with a value of choices replaces %s of a saved snapshot", field.Name)
		}
	}
}

// changes are the fields that differ.
func changes(a, b snapshot.Settings) []string {
	var out []string
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	for _, field := range reflect.VisibleFields(x.Type()) {
		if !reflect.DeepEqual(x.FieldByIndex(field.Index).Interface(), y.FieldByIndex(field.Index).Interface()) {
			out = append(out, field.Name)
		}
	}
	return out
}
