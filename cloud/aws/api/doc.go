// Package api calls AWS. It has an interface for each group of operations, so that a caller that needs two of
// them asks for two and tests can implement them; Connect, which makes the SDK's clients behind the
// interfaces; a Limiter, which paces calls; a Cache for answers that hold for a while; and functions that
// explain errors.
//
// Every operation that the product calls is in an interface here; the policy document that users install
// comes from the same list. The caller decides why it makes a call and how it handles an error.
package api
