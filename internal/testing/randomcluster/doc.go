// Package randomcluster makes small random clusters from a seed, for tests that ask whether a
// decision holds for every input.
//
// World mixes every kind of constraint that decisions know: several pools with weights,
// taints, limits and minimums, a catalogue with shortages, nodes that run, start or leave,
// daemons, and pods with rules about nodes, volumes, ports and each other. The same seed
// gives the same cluster. It comes as API objects, so that the real kube-scheduler can be
// asked, and through internal/ingest as a snapshot.
//
// When a test fails, Shrink finds a smaller cluster that fails as well, and YAML prints
// it in a form that Read takes back.
//
// The package belongs to tests and decides nothing. It must not know how decisions are
// made: a generator that avoids what the packer finds hard proves nothing.
package randomcluster
