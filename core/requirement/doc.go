// Package requirement is the algebra of what a label's value may be.
//
// A Requirement speaks about one key: the values in a set, or all values but those in a
// set, within integer bounds, and whether the label may be missing altogether. A Set is
// what its owner (a pod, a pool, an instance type, a node) asks of all keys together: one
// Requirement per key, because requirements on the same key always intersect. A
// Vocabulary says which keys have a meaning of their own.
//
// Everything here is a value: no method changes its receiver or its arguments, results
// may share memory with both, and the questions that solvers ask millions of times
// (Has, Intersects, Compatible) do not allocate. Answers are deterministic to the byte.
//
// The package knows nothing of pods, nodes or pools, and never looks anything up.
package requirement
