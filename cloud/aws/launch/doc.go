// Package launch buys one instance for a claim, and never two, despite concurrent calls, lost answers,
// crashes and changing prices.
//
// Three places know what a claim has bought. The first that knows decides:
//
//	this process  ── a purchase for each UID, held by one call at a time
//	EC2, by tag   ── the instance carries the UID from its first moment; asked once after
//	                 the start, and whenever an answer cannot be explained
//	EC2, by token ── made from the UID: a request that is sent again buys nothing new
//
// Pure functions choose the offers, launch templates and subnets of a request, and interpret EC2's answers;
// Launcher sends, repeats and remembers.
package launch
