package command

import (
	"fmt"
	"time"

	"tenon/core/reason"
)

// Why is the reason for a step of a command, as a code with operands.
type Why struct {
	Code reason.Code
	// Name is that of the replacement or the node concerned.
	Name string
	// Message is what a replacement says of why it is not ready, or what went wrong.
	Message string
	// Patience is how long replacements were waited for.
	Patience time.Duration
	// Cause is what keeps the node.
	Cause reason.Cause
}

// Why a command is over, is taken back, or goes no further for a moment.
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
