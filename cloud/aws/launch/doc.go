// Package launch buys one instance for a claim, and never two, with calls at the
// same time, answers that are lost, crashes, and prices that change.
//
// What a claim has bought is known in three places. The first that knows decides:
//
//	this process  ── a purchase for each UID, held by one call at a time
//	EC2, by tag   ── the instance carries the UID from its first moment; asked once after
//	                 the start, and whenever an answer cannot be explained
//	EC2, by token ── made from the UID: a request that is sent again buys nothing new
//
// Which offers are asked for, from which launch templates and in which subnets, and what EC2's
// answers mean, is worked out by pure functions; Launcher sends, repeats and remembers.
package launch
