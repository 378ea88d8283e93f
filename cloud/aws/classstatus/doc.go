// Package classstatus decides what the status of an EC2NodeClass says, and whether an
// instance still is what the status asks for. From what was found for the class's selectors
// and what a dry run has shown follow the lists, the conditions, and when to look again.
//
// It is pure. AWS is asked by cloud/aws/inventory, and the controller writes the status.
package classstatus
