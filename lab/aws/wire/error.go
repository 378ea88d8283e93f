package wire

import (
	"fmt"
	"net/http"
)

// Error is an error of an AWS API: a code for programs, and a message.
type Error struct {
	Code    string
	Message string
	// Status is the HTTP status; 0 means 400.
	Status int
	// QueryCode is the code of the older query protocol, for services that moved to JSON and still send
	// both.
	QueryCode string
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

func (e *Error) status() int {
	if e.Status == 0 {
		return http.StatusBadRequest
	}
	return e.Status
}

// side returns whose fault the error is, in the words of the query protocol.
func (e *Error) side() string {
	if e.status() >= 500 {
		return "Receiver"
	}
	return "Sender"
}

// Errorf returns an error that the caller caused.
func Errorf(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// StatusErrorf returns an error with its own HTTP status.
func StatusErrorf(status int, code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Status: status}
}

// DryRun returns the answer to a dry run that would have succeeded.
func DryRun() *Error {
	return StatusErrorf(http.StatusPreconditionFailed, "DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
}
