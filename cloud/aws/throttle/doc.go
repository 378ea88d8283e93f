// Package throttle keeps calls within limits that are not published exactly: it lets every call
// through until a service says that there were too many calls, takes the rate that was
// answered before that for the limit, and then feels its way along it. Where calls have to
// wait, the important ones go first.
//
// A Limiter is for the calls of one account in one region. It knows names of operations,
// and nothing of what they do; it makes no call and starts no goroutine.
package throttle
