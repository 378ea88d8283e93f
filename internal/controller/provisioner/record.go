package provisioner

import (
	"cmp"

	"tenon/core/decide"
	"tenon/core/snapshot"
	"tenon/internal/execute"
	"tenon/internal/journal"
	"tenon/internal/world"
)

// woke is the cause of the decision. See nextLook for when each cause counts.
func (l *loop) woke(p world.Pulse) string {
	switch {
	case l.last.at.IsZero():
		return "the controller has started"
	case l.last.left:
		return "pods were left for the next decision while a burst went on"
	case p.Demand != l.last.demand:
		return "pods or claims want a place"
	case p.Objections != l.last.objections:
		return "kube-scheduler has refused a pod again"
	case p.Supply != l.last.supply:
		return "nodes, pools or offers have changed"
	case p.Buffered > 0 && p.Changes != l.last.changes:
		return "the cluster has changed beside a buffer"
	}
	return "time has passed"
}

// record writes a decision to the journal, and returns its number.
func (l *loop) record(woke string, s *snapshot.Snapshot, d *decide.Decision) int64 {
	return l.o.Journal.Decided(journal.Record{By: name, Woke: woke, Took: l.took, Effort: l.o.Effort, Snapshot: s, Decision: d})
}

// recordOutcomes writes the outcomes of claims to the journal.
func (l *loop) recordOutcomes(number int64, outcomes []execute.Outcome) {
	for i := range outcomes {
		o := &outcomes[i]
		out := journal.Outcome{
			At: l.kit.Clock.Now(), Decision: number, Action: journal.ActionLaunch, Result: journal.Made, Why: o.Dropped.Text(),
			NodePool: o.Order.Pool.Name, NodeClaims: []string{o.Order.Claim.Name}, Pods: len(o.Order.Pods),
		}
		switch {
		case o.Err != nil:
			out.Result, out.Why = journal.Failed, o.Err.Error()
		case o.Claim == nil:
			out.Result, out.Why = journal.Dropped, cmp.Or(o.Dropped.Text(), "it was not made")
		}
		l.o.Journal.Told(out)
	}
}
