package cloud

import (
	"errors"
	"fmt"
	"time"
)

// The names of the errors below say what the caller should do. Callers find all of them through wrapping,
// with errors.AsType[*cloud.NoCapacity](err) and its like. Each keeps its cause.

// NotFound means that the instance is gone, so the caller can finish what it did for the instance. From
// Create it means that the claim's instance was bought and is gone again: the claim cannot get another.
type NotFound struct {
	ProviderID string
	Err        error // the cause, if there is one
}

// Error is in the words that users of the API know.
func (e *NotFound) Error() string {
	if e.Err != nil {
		return "nodeclaim not found, " + e.Err.Error()
	}
	return fmt.Sprintf("nodeclaim not found, instance %q is gone", e.ProviderID)
}

// Unwrap is the cause.
func (e *NotFound) Unwrap() error { return e.Err }

// NoCapacity means that the cloud has no capacity that the claim allows. Decide again: the catalogue shows
// the shortage by now. Nothing was bought.
type NoCapacity struct {
	// Offers lists the offers that were tried and are not available, sorted. It is empty if no offer was left
	// to try.
	Offers []Offer
	Err    error // the cause, if there is one
}

// Error is in the words that users of the API know.
func (e *NoCapacity) Error() string { return "insufficient capacity, " + e.cause() }

func (e *NoCapacity) cause() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case len(e.Offers) == 0:
		return "all requested instance types were unavailable during launch"
	case len(e.Offers) == 1:
		return fmt.Sprintf("%s cannot be had at the moment", e.Offers[0])
	}
	return fmt.Sprintf("%s and %d other(s) cannot be had at the moment", e.Offers[0], len(e.Offers)-1)
}

// Unwrap is the cause.
func (e *NoCapacity) Unwrap() error { return e.Err }

// ClassNotReady means that the node class is missing or cannot be used yet. Wait for it to change. Nothing
// was bought.
type ClassNotReady struct {
	Class ClassRef
	// Undecided says that nothing is known of the class yet: no controller has looked at its present form, or
	// it does not exist yet. Wait a moment, and ask again.
	Undecided bool
	Err       error // the cause, if there is one
}

// Error is in the words that users of the API know.
func (e *ClassNotReady) Error() string {
	if e.Err != nil {
		return "NodeClassRef not ready, " + e.Err.Error()
	}
	return fmt.Sprintf("NodeClassRef not ready, %s cannot be used yet", e.Class)
}

// Unwrap is the cause.
func (e *ClassNotReady) Unwrap() error { return e.Err }

// Rejected means that the cloud refuses this purchase for a reason that a user often has to correct: put
// Reason and Message on the claim, and try again after growing pauses. Nothing was bought.
type Rejected struct {
	Reason  string // for a condition, see ValidReason: "Unauthorized"
	Message string // a sentence for people
	Err     error  // the cause, if there is one
}

// Error is in the words that users of the API know.
func (e *Rejected) Error() string {
	if e.Err != nil {
		return "creating nodeclaim, " + e.Err.Error()
	}
	return "creating nodeclaim, " + e.Message
}

// Unwrap is the cause.
func (e *Rejected) Unwrap() error { return e.Err }

// Throttled means that the cloud wants fewer calls. Call again after RetryAfter, and delay less urgent calls.
// Nothing was done.
type Throttled struct {
	RetryAfter time.Duration
	Err        error // the cause, if there is one: a Rejected if people should see it
}

// Error says for how long.
func (e *Throttled) Error() string {
	text := fmt.Sprintf("too many requests, retry after %s", e.RetryAfter)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap is the cause.
func (e *Throttled) Unwrap() error { return e.Err }

// IsNotFound reports whether err says that the instance is gone.
func IsNotFound(err error) bool { return has[*NotFound](err) }

// NothingBought reports whether this error from Create makes it certain that the call bought nothing. After
// any other error, assume that it bought something.
func NothingBought(err error) bool {
	return has[*NoCapacity](err) || has[*ClassNotReady](err) || has[*Rejected](err) || has[*Throttled](err)
}

// MetricLabel is the error's name in metrics of provider calls: empty for nil and for errors of other types.
func MetricLabel(err error) string {
	switch {
	case IsNotFound(err):
		return "NodeClaimNotFoundError"
	case has[*NoCapacity](err):
		return "InsufficientCapacityError"
	case has[*ClassNotReady](err):
		return "NodeClassNotReadyError"
	}
	return ""
}

func has[E error](err error) bool {
	_, is := errors.AsType[E](err)
	return is
}
