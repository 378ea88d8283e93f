// Package disrupt decides which nodes to remove, and says of every other node what keeps
// it.
//
//	survey     which nodes may go at all, and for which reasons (candidate.go, allowance.go)
//	empty      nodes without pods that need them
//	drift      nodes that are no longer what they should be, at any price
//	scaleDown  nodes of groups that are managed by the rules of Cluster Autoscaler (scaledown.go)
//	design     what the fleet would look like at its best: keepers and leavers (design.go)
//	groups     leavers that are packed together onto keepers and new nodes (group.go)
//	sweep      every node that is left, one by one (sweep.go)
//
// Every placement is core/provision's answer, by the same rules as for pending pods. What
// is decided here is what to ask, whether the answer is allowed (price.go), and whether it
// is worth the evictions (worth.go).
//
// The package looks at the whole fleet, without a cap on candidates. The effort bounds how many questions
// one evaluation asks; the nodes that it did not reach come first in the next one. It must not carry
// anything out.
package disrupt
