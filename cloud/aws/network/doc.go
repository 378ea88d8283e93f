// Package network finds where to put instances: the subnets, security groups and placement group of a class,
// and how many addresses the subnets have left.
//
// It only finds what the class's selectors select in EC2. Other packages decide which subnet a launch takes,
// by the counts that this package keeps.
package network
