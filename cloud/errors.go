package cloud

import (
	"errors"
	"fmt"
	"time"
)

// The errors below are named for what the caller should do. All are found through
// wrapping, with errors.AsType[*cloud.NoCapacity](err) and its like, and keep their cause.

// NotFound: the instance is gone, so what was done for its sake can be finished. From
// Create it means that the claim's instance was bought and is gone again: the claim has
// no future.
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

// NoCapacity: the cloud has none of what the claim allows. Decide again: the catalogue
// knows by now. Nothing was bought.
type NoCapacity struct {
	// Offers are those that were tried and cannot be had, sorted. It is empty when
	// nothing was left to try.
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

// ClassNotReady: the node class is missing or cannot be used yet. Wait for it to change.
// Nothing was bought.
type ClassNotReady struct {
	Class ClassRef
	// Undecided says that it is not known whether the class can be used: it has not been looked
	// at yet in its present form, or does not exist yet. Then wait a moment, and ask again.
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

// Rejected: the cloud refuses this purchase for a reason that a user often has to correct: put Reason and
// Message on the claim, and try again after growing pauses. Nothing was bought.
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

// Throttled: the cloud wants fewer calls. Call again after RetryAfter, and hold back what
// is less urgent. Nothing was done.
type Throttled struct {
	RetryAfter time.Duration
	Err        error // the cause, if there is one: a Rejected where it is for people to see
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

// NothingBought reports whether, after this error from Create, it is certain that nothing
// was bought by that call. Of all other errors one must think that something was.
func NothingBought(err error) bool {
	return has[*NoCapacity](err) || has[*ClassNotReady](err) || has[*Rejected](err) || has[*Throttled](err)
}

// MetricLabel is how metrics of provider calls name an error: empty for errors without a
// type of that name, and for none.
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
