package disruption

import (
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/journal"
	"tenon/internal/world"
)

// woke is the cause of the evaluation. See wait for when each cause counts.
func (d *disruption) woke(p world.Pulse) string {
	switch {
	case d.last.at.IsZero():
		return "the controller has started"
	case d.last.after != "":
		return "nodes were left for this evaluation"
	case d.underway.Ended() != d.last.ended:
		return "a disruption is over"
	case p.Changes != d.last.changes:
		return "the cluster has changed"
	}
	return "time has passed"
}

// record writes an evaluation to the journal, and returns its number.
func (d *disruption) record(r journal.Record) int64 {
	r.By, r.Took = "disruption", d.last.took
	return d.o.Journal.Decided(r)
}

// recordOutcome writes the outcome of a disruption to the journal. Only the code that begins the
// disruption knows the number of the decision.
func (d *disruption) recordOutcome(r *command.Record, o journal.Outcome) {
	savings := r.Savings.Float()
	o.At, o.Action, o.Command, o.Savings = d.kit.Clock.Now(), journal.ActionDisrupt, r.ID, &savings
	for _, m := range r.Claims {
		o.NodeClaims = append(o.NodeClaims, m.Claim)
	}
	for _, m := range r.Replacements {
		o.Replacements = append(o.Replacements, m.Claim)
	}
	d.o.Journal.Told(o)
}

// recordDropped writes to the journal that a disruption of a decision was not begun.
func (d *disruption) recordDropped(p *plan.Disruption, number int64, why string) {
	savings := p.Savings.Float()
	o := journal.Outcome{At: d.kit.Clock.Now(), Decision: number, Action: journal.ActionDisrupt, Result: journal.Dropped, Why: why, Savings: &savings}
	for i := range p.Nodes {
		o.NodeClaims = append(o.NodeClaims, command.MemberOf(p.Nodes[i].Claim, p.Nodes[i].Node))
	}
	d.o.Journal.Told(o)
}
