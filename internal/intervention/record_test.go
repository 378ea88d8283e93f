package intervention

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// TestRecordsAreRead checks that a record is read as it was written, and that annotations which Do does not write count as none.
func TestRecordsAreRead(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	bot := Record{at, "system:serviceaccount:ops: bot", Pin}
	for name, tc := range map[string]struct {
		annotation string
		want       Record
	}{
		"written by Do":        {bot.annotation(), bot},
		"in another time zone": {"2026-03-01T13:00:00+01:00 alice: remove", Record{at, "alice", Remove}},
		"none":                 {"", Record{}},
		"without a time":       {"alice: pin", Record{}},
		"without a user":       {"2026-03-01T12:00:00Z : pin", Record{}},
		"without a change":     {"2026-03-01T12:00:00Z alice", Record{}},
		"an unknown change":    {"2026-03-01T12:00:00Z alice: praise", Record{}},
		"codes for a terminal": {"2026-03-01T12:00:00Z ali\x1b[2Jce: pin", Record{}},
		"lines":                {"2026-03-01T12:00:00Z ali\nce: pin", Record{}},
		"a very long name":     {"2026-03-01T12:00:00Z " + strings.Repeat("a", 2000) + ": pin", Record{}},
	} {
		o := &metav1.ObjectMeta{Annotations: map[string]string{karpenterv1.AnnotationChangedByHand: tc.annotation}}
		got, found := RecordOf(o)
		if found != (tc.want != Record{}) || found && got != tc.want {
			t.Errorf("%s: %+v, %v", name, got, found)
		}
	}
}
