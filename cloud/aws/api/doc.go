// Package api is how AWS is called: an interface for each group of operations, so that a
// caller that needs two of them asks for two and tests can answer them; Connect, which makes
// the SDK's clients behind them; a Limiter, which keeps their pace; a Cache for answers that hold
// for a while; and what errors mean.
//
// Every operation that the product calls is in an interface here; the policy document
// that users install is made from the same list. What a call is for, and what is done about
// an error, is decided by its caller.
package api
