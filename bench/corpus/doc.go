// Package corpus makes the workloads that measurements are taken on, as Kubernetes API
// objects, so that every scheduler under measurement reads the same ones.
//
// Everything is made from a seed: the same case has the same objects in every run, but
// for the sharing of memory. A case is cheap to make, and is to be made anew for every
// repetition, since a program under test may change its objects.
//
// The package knows no scheduler and measures nothing.
package corpus
