// Package wire speaks the protocols of the AWS services that the emulator
// plays: it turns an HTTP request into a Call, a Call's parameters into a
// struct, and an operation's answer or error into what an SDK reads.
//
//	X-Amz-Target ───────┐
//	Action=, Version= ──┼─▶ Call{Service, Operation, Account, Region} ─▶ Handler ─▶ answer │ *Error
//	path of a REST API ─┘            ▲                                                  │
//	                       credential scope                             XML or JSON envelope
//
// A parameter that no struct field names is refused, not ignored: a caller that
// relies on something which is not modelled must find out at once. The package
// knows nothing of what the services do.
package wire
