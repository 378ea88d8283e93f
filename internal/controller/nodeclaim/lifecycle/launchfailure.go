package lifecycle

import (
	"errors"
	"time"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/removal"
)

const (
	launchFailed = "LaunchFailed"
	// longest is how many characters of an error people are shown.
	longest = 300
	// classAgain is how long a claim waits for its class to be judged.
	classAgain = 2 * time.Second
)

// launchFailure is what an error from Create means for its claim.
type launchFailure struct {
	// err is the error itself.
	err error
	// remove is why the claim is deleted; empty if it is tried again.
	remove removal.Reason
	// nothing says that certainly no call has bought anything for this claim: its token would have shown a
	// purchase.
	nothing bool
	// event is the reason of the event that tells people, if one does.
	event string
	// reason and message are for the condition of a claim that is tried again.
	reason, message string
	// after is when it is tried again if that is not urgent; then it does not count as a failure.
	after time.Duration
}

// judge reads an error from Create. With an error of no known type something may have been bought, so the
// same claim is tried again until it is too late.
func judge(err error) launchFailure {
	v := launchFailure{err: err}
	unready, isUnready := errors.AsType[*cloud.ClassNotReady](err)
	switch {
	case as[*cloud.NoCapacity](err):
		v.remove, v.nothing, v.event = removal.InsufficientCapacity, true, "InsufficientCapacityError"
	case isUnready && unready.Undecided:
		v.reason, v.message, v.after = karpenterv1.ReasonNodeClassUnknown, shorten(unready.Error()), classAgain
	case isUnready:
		v.remove, v.nothing, v.event = removal.NodeClassNotReady, true, "NodeClassNotReady"
	case cloud.IsNotFound(err):
		// The token is used up: the instance was bought, and has gone again.
		v.remove = removal.GarbageCollected
	default:
		v.reason, v.message = launchFailed, shorten(err.Error())
		if rejected, is := errors.AsType[*cloud.Rejected](err); is {
			v.reason, v.message = rejected.Reason, rejected.Message
		}
		if !cloud.ValidReason(v.reason) { // the API server would refuse the whole status
			v.reason = launchFailed
		}
	}
	return v
}

func as[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}

// shorten cuts a text for people, between characters.
func shorten(text string) string {
	if runes := []rune(text); len(runes) >= longest {
		return string(runes[:longest]) + "..."
	}
	return text
}
