package clusterautoscaler_test

import (
	"slices"
	"strings"
	"testing"

	"tenon/internal/clusterautoscaler"
)

// Every flag has a text, in the order of names.
func TestKnownFlags(t *testing.T) {
	t.Parallel()
	flags := clusterautoscaler.KnownFlags()
	if !slices.IsSortedFunc(flags, func(a, b clusterautoscaler.KnownFlag) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("they are not in order")
	}
	for _, f := range flags {
		if text, err := f.Told(f.Default); err != nil || f.Instead() == "" || !strings.Contains(text, f.Instead()) {
			t.Errorf("--%s: %q, %v", f.Name, text, err)
		}
		if _, err := f.Told("something else"); (err != nil) != f.Refused() {
			t.Errorf("--%s: %v", f.Name, err)
		}
	}
}
