package plan

import (
	"testing"

	"tenon/core/reason"
)

// What blocks or keeps a node is an event, but for what users expect anyway; what waits or is
// chosen has none.
func TestEventOfProspect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind Kind
		code reason.Code
		want string
	}{
		{Blocked, reason.PodProtected, "DisruptionBlocked"}, {Kept, reason.NotCheaper, "Unconsolidatable"},
		{Blocked, reason.NotManaged, ""}, {Blocked, reason.BeingDisrupted, ""}, {Kept, reason.PoolStatic, ""}, {Kept, reason.TakesPods, ""},
		{Waiting, reason.RecentActivity, ""}, {Chosen, reason.None, ""}, {Blocked, reason.None, ""},
	} {
		p := Prospect{Kind: c.kind, Cause: reason.Cause{Code: c.code}}
		if got := p.Event(); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.kind, c.code, got, c.want)
		}
	}
}
