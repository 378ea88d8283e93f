// Package ingest turns Kubernetes API objects into the values of core/snapshot. Nothing
// else in the product knows both.
//
// Everything that needs a second object is resolved here (owners, volumes, namespaces of
// affinity terms, default spreads, priority classes, limit ranges, disruption budgets,
// overlays), so that the core never looks anything up.
//
// There are two ways in. Build takes a whole set of Objects, as files or a first listing
// give them, and returns a Snapshot. A live picture keeps an Index of the objects that
// others refer to and one Translator, and asks it for one pod, node, pool or daemon at a
// time. Both give the same values, because Build is made of the same pieces.
//
// The package reads no files and talks to no server (manifest reads files), has no clock
// (the time is an option) and never changes the objects that it is given.
package ingest
