package requirement_test

import (
	"testing"

	"tenon/core/requirement"
)

// The distance is the least number of changes, in both directions.
func TestEditDistance(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"metric-port", "metrics-port", 1}, {"same", "same", 0}} {
		if got := requirement.EditDistance(tc.a, tc.b); got != tc.want || requirement.EditDistance(tc.b, tc.a) != tc.want {
			t.Errorf("EditDistance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
