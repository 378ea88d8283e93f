// Package classstatus decides what the status of an EC2NodeClass says: from what was found for
// its selectors, and what a trial of it has shown, follow the lists, the conditions, and
// when to look again.
//
// It is pure. Who looks is cloud/aws/inventory, and who writes is the controller.
package classstatus
