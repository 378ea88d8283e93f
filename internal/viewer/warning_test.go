package viewer

import (
	"strings"
	"testing"

	"tenon/internal/journal"
)

// A journal with lines that cannot be read is shown, with a warning below it.
func TestAWarningStandsBelowTheDecisions(t *testing.T) {
	t.Parallel()
	m := shown(options(), 100, 24, "5")
	some := decided()
	some.Problem = "the journal has " + journal.Unreadable(1)
	m.Update(some)
	if text := m.Text(); !strings.Contains(text, "4712") || !strings.Contains(text, "cut off: 1; all others are read") {
		t.Errorf("the screen is\n%s", text)
	}
}
