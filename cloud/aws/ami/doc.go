// Package ami finds the machine images that a class selects, and tells which of them
// an instance type boots.
//
// It returns the images for the class's status: at most one for each kind of machine. It does not deal with
// user data or with how images join the cluster.
package ami
