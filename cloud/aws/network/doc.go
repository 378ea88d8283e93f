// Package network finds where instances are put: subnets, security groups and the
// placement group of a class, and how many addresses subnets have left.
//
// It asks EC2 what the class's selectors say and nothing more; which of the subnets a
// launch takes is decided elsewhere, by the counts that are kept here.
package network
