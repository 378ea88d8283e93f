package provisioner

import (
	"context"
	"time"

	"tenon/core/plan"
	"tenon/core/snapshot"
	"tenon/core/wait"
	"tenon/internal/execute"
	"tenon/internal/reconcile"
	"tenon/internal/world"
)

// bufferClaims are the claims that were last made for buffers. After refused launches, the next are
// made after growing pauses, as for pods.
type bufferClaims struct {
	claims []string
	times  int // how many in a row failed
	until  time.Time
}

// settle finds out what became of the claims.
func (s *bufferClaims) settle(w *world.World, now time.Time) {
	open := s.claims[:0]
	for _, claim := range s.claims {
		switch {
		case w.Launched(claim):
			s.times = 0
		case w.Expects(claim):
			open = append(open, claim)
		default:
			s.times++
			s.until = now.Add(wait.Pause(s.times))
		}
	}
	s.claims = open
}

// spare makes the nodes that buffers need.
func (l *loop) spare(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan, market map[string]world.Sale) []execute.Outcome {
	outcomes := l.o.Executor.Launch(ctx, l.orders(s, p.Spare, market))
	for _, o := range outcomes {
		if o.Claim != nil {
			l.bufferClaims.claims = append(l.bufferClaims.claims, o.Claim.Name)
		}
	}
	return outcomes
}

// tellBuffers says on buffers whether they have room.
func (l *loop) tellBuffers(ctx context.Context, s *snapshot.Snapshot, p *plan.Plan, outcomes []execute.Outcome) {
	if len(outcomes) > 0 {
		reconcile.Log(ctx).Info("computed new nodeclaim(s) for capacity buffers", "nodeclaims", len(outcomes), "buffers", len(p.Rooms))
		l.tellClaims(ctx, s, outcomes)
	}
	if err := l.o.Executor.MarkRooms(ctx, s, p.Rooms); err != nil {
		reconcile.Log(ctx).Error(err, "could not write on capacity buffers whether they have room")
	}
}
