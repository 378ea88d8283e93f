package command

import (
	"fmt"
	"time"

	"tenon/core/reason"
)

// Why is the reason for a step of a command, as a code with operands.
type Why struct {
	Code reason.Code
	// Name is the name of the replacement or node.
	Name string
	// Message is the replacement's own reason why it is not ready, or the error.
	Message string
	// Patience is how long the command waited for replacements.
	Patience time.Duration
	// Cause is what keeps the node.
	Cause reason.Cause
}

// The reasons why a command is over, is taken back, or waits.
const (
	NoNodeLeft           reason.Code = "NoNodeLeft"
	BeginFailed          reason.Code = "BeginFailed" // Message
	RecordIncomplete     reason.Code = "RecordIncomplete"
	ReplacementGone      reason.Code = "ReplacementGone"    // Name
	ReplacementDeleted   reason.Code = "ReplacementDeleted" // Name, Message
	ReplacementsLate     reason.Code = "ReplacementsLate"   // Patience
	NodeKept             reason.Code = "NodeKept"           // Name, Cause
	NodeUnmarked         reason.Code = "NodeUnmarked"
	ReplacementsNotReady reason.Code = "ReplacementsNotReady"
	NodesClosedOnlyNow   reason.Code = "NodesClosedOnlyNow"
	NothingLeft          reason.Code = "NothingLeft"
)

// Text is the reason in words, for the log and the journal.
func (w *Why) Text() string {
	switch w.Code {
	case reason.None:
		return ""
	case NoNodeLeft:
		return "every node is gone or going"
	case BeginFailed:
		return w.Message
	case RecordIncomplete:
		return "it is not written on all of its claims"
	case ReplacementGone:
		return fmt.Sprintf("replacement %s is gone", w.Name)
	case ReplacementDeleted:
		text := fmt.Sprintf("replacement %s is being deleted", w.Name)
		if w.Message != "" {
			text += ": " + w.Message
		}
		return text
	case ReplacementsLate:
		return fmt.Sprintf("its replacements were not ready within %s", w.Patience)
	case NodeKept:
		return w.Name + ": " + w.Cause.Text()
	case NodeUnmarked:
		return "not every node is marked"
	case ReplacementsNotReady:
		return "its replacements are not ready"
	case NodesClosedOnlyNow:
		return "its nodes have been closed only now"
	case NothingLeft:
		return "nothing is left of it"
	}
	return string(w.Code)
}
