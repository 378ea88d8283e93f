// Package launch decides how a claim is bought: which of the offers that it allows are
// asked for, from which launch templates and in which subnets; and reads what EC2 answers.
//
// Its functions are pure: they get all that they look at, and make no call. The package
// must not know how requests are sent, repeated and remembered.
package launch
