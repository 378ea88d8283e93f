// Package instanceprofile makes instance profiles for the roles of classes and removes them when
// they are not needed any more: EC2 gives a role to an instance only by way of one.
//
// Profiles are found again by their path, which has the region, the cluster and the UID of
// the class. Profiles that a class names itself are the user's and are never touched.
package instanceprofile
