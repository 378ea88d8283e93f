// Package ami finds the machine images that a class selects, and tells which of them
// an instance type boots.
//
// What it finds are the images of the class's status: at most one for each kind of
// machine. User data, and how images join the cluster, are no business of this package.
package ami
