package plan

import "tenon/core/reason"

// Room is what becomes of the pods that a buffer stands for, once every real pod has its place. A request that lacks room
// for a pod gets nothing; then the numbers say what an attempt found.
type Room struct {
	// Buffer is an index into Snapshot.Buffers.
	Buffer int
	// Existing is how many of them have room on nodes that are there or on their way.
	Existing int
	// Planned is how many have room beside pods on nodes that the plan buys for those.
	Planned int
	// New is how many need nodes of Plan.Spare.
	New int
	// Lacking is how many have no room, for the reason that follows.
	Lacking int
	Verdict *reason.Verdict
}

// Pods is how many pods the buffer stands for.
func (r *Room) Pods() int { return r.Existing + r.Planned + r.New + r.Lacking }
