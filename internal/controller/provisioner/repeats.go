package provisioner

import (
	"fmt"
	"time"

	"tenon/core/reason"
)

// repeats suppresses repeated messages: a decision about pods that cannot be placed is made every few seconds,
// mostly with the same outcome.
type repeats struct {
	said map[string]time.Time
}

// remembered is how long a message counts as known.
const remembered = 5 * time.Minute

// isNew reports whether a message should be published now, and remembers it.
func (h *repeats) isNew(what string, now time.Time) bool {
	for key, at := range h.said {
		if now.Sub(at) >= remembered {
			delete(h.said, key)
		}
	}
	if _, known := h.said[what]; known {
		return false
	}
	if h.said == nil {
		h.said = map[string]time.Time{}
	}
	h.said[what] = now
	return true
}

// summary is the essence of a verdict: the rule that keeps a pod waiting and what would help. It leaves out
// amounts and other pools, which change with every pod that comes or goes.
func summary(v *reason.Verdict) string {
	var pool string
	var code reason.Code
	if pools := v.Promising(); len(pools) > 0 {
		pool, code = pools[0].Pool, pools[0].Reason.Code
	}
	text := fmt.Sprint(v.General.Code, " ", pool, " ", code)
	if v.Remedy != nil {
		text += fmt.Sprint(" ", v.Remedy.Change, " ", v.Remedy.Pool)
	}
	return text
}
