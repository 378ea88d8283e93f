package check

import (
	"slices"

	"tenon/core/plan"
	"tenon/core/snapshot"
)

// checkRooms: the plan says of every buffer where its pods have room, of each of them once. A
// plan that was made without regard to buffers says it of none.
func checkRooms(s *snapshot.Snapshot, p *plan.Plan, f *finding) {
	if len(p.Rooms) == 0 && len(p.Spare) == 0 {
		return
	}
	said := make([]int, len(s.Buffers))
	for i := range p.Rooms {
		if at := p.Rooms[i].Buffer; at >= 0 && at < len(said) {
			said[at] += p.Rooms[i].Pods()
		}
	}
	for i := range s.Buffers {
		if said[i] != s.Buffers[i].Pods {
			f.note(Violation{Rule: BufferRoom, Where: s.Buffers[i].Key(), Have: int64(said[i]), Want: int64(s.Buffers[i].Pods)})
		}
	}
	for i := range p.Spare {
		if c := &p.Spare[i]; !c.Spare || len(c.Pods) > 0 {
			f.note(Violation{Rule: BufferRoom, Node: c.Name, Detail: "is bought for buffers, and has pods"})
		}
	}
}

// withSpare is the plan with the nodes for buffers among its claims: what holds for claims holds
// for these too.
func withSpare(p *plan.Plan) *plan.Plan {
	if len(p.Spare) == 0 {
		return p
	}
	whole := *p
	whole.Claims = slices.Concat(p.Claims, p.Spare)
	for i := range p.Spare {
		whole.Cost.New += p.Spare[i].Offer.Price
	}
	return &whole
}
