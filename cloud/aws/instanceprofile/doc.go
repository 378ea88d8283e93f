// Package instanceprofile makes instance profiles for the roles of classes, because EC2 gives a role to an
// instance only through a profile. It removes profiles that are no longer needed.
//
// It finds its profiles again by their path, which has the region, the cluster and the UID of the class. A
// profile that a class names itself belongs to the user; the package never touches it.
package instanceprofile
