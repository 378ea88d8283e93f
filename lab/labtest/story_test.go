package labtest

import (
	"slices"
	"testing"
)

// A story's lines of a log are those that name it, and of lines that differ in numbers only the first.
func TestNaming(t *testing.T) {
	t.Parallel()
	log := "12:00:01 sync a failed: version 7\n12:00:02 sync a failed: version 8\n12:00:02 sync b failed: version 8\n12:00:03 a is well\n"
	want := []string{"12:00:01 sync a failed: version 7\n", "12:00:03 a is well\n"}
	if got := naming(" a ", log); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
