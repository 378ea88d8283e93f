// Package dryrun tries out whether instances of a class could be launched: it makes a real
// launch template and sends purchases that EC2 only checks. What is wrong shows on the
// class then, and not on the first claim that pods wait for.
//
// It buys nothing, and writes no object: the verdict is its caller's to publish.
package dryrun
