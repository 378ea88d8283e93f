// Package corpus makes the workloads that measurements are taken on, as Kubernetes API
// objects, so that every scheduler under measurement reads the same ones.
//
// Everything comes from a seed: the same case has the same objects in every run, apart from the
// memory that they share. A case is cheap to make. Make a new one for every repetition, since a
// program under test may change its objects.
//
// The package knows no scheduler and measures nothing.
package corpus
