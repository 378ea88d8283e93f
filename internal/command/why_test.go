package command_test

import (
	"testing"
	"time"

	"tenon/core/reason"
	"tenon/internal/command"
)

// The log and the journal have a text for each reason, with its operands.
func TestWhyText(t *testing.T) {
	t.Parallel()
	for want, why := range map[string]command.Why{
		"":                                                    {},
		"every node is gone or going":                         {Code: command.NoNodeLeft},
		"write command x on claim a: conflict":                {Code: command.BeginFailed, Message: "write command x on claim a: conflict"},
		"it is not written on all of its claims":              {Code: command.RecordIncomplete},
		"replacement new is gone":                             {Code: command.ReplacementGone, Name: "new"},
		"replacement new is being deleted":                    {Code: command.ReplacementDeleted, Name: "new"},
		"replacement new is being deleted: it never joined":   {Code: command.ReplacementDeleted, Name: "new", Message: "it never joined"},
		"its replacements were not ready within 10m0s":        {Code: command.ReplacementsLate, Patience: 10 * time.Minute},
		"node-a: Pod came after the decision (Pod=default/a)": {Code: command.NodeKept, Name: "node-a", Cause: reason.Cause{Code: reason.PodCame, Where: "default/a"}},
		"not every node is marked":                            {Code: command.NodeUnmarked},
		"its replacements are not ready":                      {Code: command.ReplacementsNotReady},
		"its nodes have been closed only now":                 {Code: command.NodesClosedOnlyNow},
		"nothing is left of it":                               {Code: command.NothingLeft},
	} {
		if got := why.Text(); got != want {
			t.Errorf("%s reads %q, want %q", why.Code, got, want)
		}
	}
}
