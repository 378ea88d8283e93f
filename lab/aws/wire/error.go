package wire

import (
	"fmt"
	"net/http"
)

// Error is an error of an AWS API: a code that programs look at, and a message.
type Error struct {
	Code    string
	Message string
	// Status is the HTTP status; 400 if 0.
	Status int
	// QueryCode is the code of the older query protocol, for services that moved
	// to JSON and still tell both.
	QueryCode string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

// side is whose fault it is, in the words of the query protocol.
func (e *Error) side() string {
	if e.status() >= 500 {
		return "Receiver"
	}
	return "Sender"
}

// Errorf is an error of the caller.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// StatusErrorf is an error with an HTTP status of its own.
func StatusErrorf(status int, code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Status: status}
}

// DryRun is the answer to a request that would have succeeded.
func DryRun() *Error {
	return StatusErrorf(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
}
