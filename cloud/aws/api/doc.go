// Package api is all of AWS that the provider calls: an interface for each group of
// operations, so that a caller that needs two of them asks for two and tests can answer them,
// and Connect, which makes the SDK's clients behind them.
//
// Every operation that the product calls is in an interface here; the policy document
// that users install is made from the same list. The package adds pace and names for
// errors to the SDK and nothing else: what a call is for is its caller's business.
package api
