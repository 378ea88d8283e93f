// Package classstatus decides what the status of an EC2NodeClass says, and whether an instance still is what
// the status asks for. From the results of the class's selectors and of a dry run it derives the lists, the
// conditions, and when to look again.
//
// It is pure: cloud/aws/inventory asks AWS, and the controller writes the status.
package classstatus
