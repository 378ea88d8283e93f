// Package wire speaks the protocols of the emulated AWS services: it turns an HTTP request into a Call, a
// Call's parameters into a struct, and an operation's answer or error into what an SDK reads.
//
//	X-Amz-Target ───────┐
//	Action=, Version= ──┼─▶ Call{Service, Operation, Account, Region} ─▶ Handler ─▶ answer │ *Error
//	path of a REST API ─┘            ▲                                                  │
//	                       credential scope                             XML or JSON envelope
//
// The package refuses a parameter that no struct field names: a caller that relies on something that is
// not modelled must find out at once. The package does not know what the services do.
package wire
