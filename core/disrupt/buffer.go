package disrupt

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
)

// isVirtual tells pods that only stand for the room of a buffer.
func (x *search) isVirtual(p snapshot.PodIndex) bool { return x.s.Pods[p].Tie.Virtual }

// tellBuffers says of nodes on which only buffers have pods that this is what keeps them.
func (x *search) tellBuffers() {
	for i := range x.nodes {
		n := &x.nodes[i]
		if n.prospect.Kind == plan.Kept && len(n.moving) > 0 && !slices.ContainsFunc(n.moving, func(p snapshot.PodIndex) bool { return !x.isVirtual(p) }) {
			n.prospect.Cause = reason.Cause{Code: reason.HoldsBuffer, Where: n.Name}
		}
	}
}
