package disruption

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/disrupt"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/command"
	"tenon/internal/execute"
	"tenon/internal/ingest"
	"tenon/internal/journal"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/world"
)

// start is a disruption that is being begun.
type start struct {
	plan   *plan.Disruption
	state  command.State
	places []world.Place
	pods   map[types.UID]bool // on the leavers
	evict  []types.UID        // in this order
}

// beginAll begins the disruptions that need not wait and still hold, side by side. If one fails, the others still begin.
// The number is that of the decision.
func (d *disruption) beginAll(ctx context.Context, picture world.Picture, chosen []plan.Disruption, number int64) error {
	var now *disrupt.Current // read only if something has changed meanwhile
	if d.o.World.Pulse().Changes != picture.Pulse.Changes && len(chosen) > 0 {
		now = disrupt.NewCurrent(d.look(ctx, d.o.World, d.kit.Clock.Now()).Snapshot)
	}
	var wrong []error
	var starts []*start
	for i := range chosen {
		each := &chosen[i]
		if !each.Now() {
			continue
		}
		if now != nil {
			if cause := now.Overtaken(picture.Snapshot, each); cause.Code != reason.None {
				reconcile.Log(ctx).V(1).Info("abandoning disruption that does not hold any more", "reason", string(each.Reason), "cause", cause.Text())
				d.recordDropped(each, number, cause.Text())
				continue
			}
		}
		s, cause, err := d.prepare(ctx, picture.Snapshot, each)
		if err != nil {
			d.recordDropped(each, number, err.Error())
			wrong = append(wrong, err)
			continue
		}
		if cause.Code != reason.None {
			d.recordDropped(each, number, cause.Text())
			continue
		}
		d.underway.Begin(world.Underway{Record: s.state.Record, Places: s.places, Pods: s.pods, Evict: s.evict, Guide: s.plan.Guide})
		starts = append(starts, s)
	}
	wrong = append(wrong, d.o.Executor.SideBySide(len(starts), func(i int) error { return d.begin(ctx, starts[i], number) }))
	return errors.Join(wrong...)
}

// prepare gathers what a command needs. The cause says which change forbids the command.
func (d *disruption) prepare(ctx context.Context, s *snapshot.Snapshot, p *plan.Disruption) (*start, reason.Cause, error) {
	out := &start{plan: p, pods: map[types.UID]bool{}, state: command.State{Now: s.Now, Record: command.Record{
		ID: d.o.Suffix() + d.o.Suffix(), Reason: p.Reason, Begun: s.Now, Kind: kindOf(p), Savings: p.Savings, Evictions: p.Evictions(),
	}}}
	record := &out.state.Record
	for i := range p.Nodes {
		r := &p.Nodes[i]
		for _, pod := range r.Pods {
			out.pods[types.UID(s.Pods[pod].UID)] = true
		}
		member := command.MemberOf(r.Claim, r.Node)
		if d.underway.Involve(member) {
			return nil, reason.Cause{Code: reason.ClaimInvolved, Where: member}, nil
		}
		l, found, err := execute.ReadLeaver(ctx, d.kit.Client, member)
		if err != nil {
			return nil, reason.Cause{}, err
		}
		if !found || l.Carrier().GetDeletionTimestamp() != nil || l.Node == nil || l.Node.Name != r.Node {
			return nil, reason.Cause{Code: reason.NodeGone, Where: r.Node}, nil
		}
		out.state.Leavers = append(out.state.Leavers, l)
		record.Claims = append(record.Claims, command.Member{Claim: member, Pool: r.Pool, Price: r.Price})
	}
	if p.DeleteFirst { // new nodes are bought for the pods once the removal has begun
		first := *p
		first.Replacements = nil
		p, out.plan = &first, &first
	}
	for _, pod := range p.Evict {
		out.evict = append(out.evict, types.UID(s.Pods[pod].UID))
	}
	record.Receivers = receivers(s, p)
	for i := range p.Moves {
		out.places = append(out.places, world.Place{On: p.Moves[i].Node, Pods: refsOf(s, p.Moves[i].Pods)})
	}
	market := d.o.Supply.Of(ctx, d.o.World.Pools())
	for i := range p.Replacements {
		order, code := d.order(&p.Replacements[i], market, record.Begun)
		if code != reason.None {
			return nil, reason.Cause{Code: code, Where: p.Replacements[i].Pool}, nil
		}
		out.state.Orders = append(out.state.Orders, order)
		out.places = append(out.places, world.Place{On: order.Claim.Name, Pods: refsOf(s, p.Replacements[i].Pods)})
		record.Replacements = append(record.Replacements, command.Member{
			Claim: order.Claim.Name, Pool: order.Pool.Name, Price: p.Replacements[i].Offer.Price,
		})
	}
	text := record.String() // now that the record is complete
	for i := range out.state.Orders {
		out.state.Orders[i].Claim.Annotations[karpenterv1.AnnotationDisruption] = text
	}
	return out, reason.Cause{}, nil
}

func refsOf(s *snapshot.Snapshot, pods []snapshot.PodIndex) []world.PodRef {
	out := make([]world.PodRef, 0, len(pods))
	for _, i := range pods {
		out = append(out, world.RefOf(&s.Pods[i]))
	}
	return out
}

// receivers are the claims of nodes that receive pods, and the nodes of groups that do.
func receivers(s *snapshot.Snapshot, p *plan.Disruption) []string {
	taking := map[string]bool{}
	for i := range p.Moves {
		taking[p.Moves[i].Node] = true
	}
	var out []string
	for i := range s.Nodes {
		if n := &s.Nodes[i]; taking[n.Name] && (n.Claim != "" || n.Pool != "") {
			out = append(out, command.MemberOf(n.Claim, n.Name))
		}
	}
	return out
}

// order is a replacement to create, or the change of its pool that forbids it. Replacements of
// static pools come straight from the template.
func (d *disruption) order(c *plan.Claim, market map[string]world.Sale, begun time.Time) (command.Replacement, reason.Code) {
	pool, found := d.o.World.Pool(c.Pool)
	if !found {
		return command.Replacement{}, reason.PoolGone
	}
	claim := d.intents.ForPlan(pool, c, market[c.Pool].Catalog)
	if pool.Spec.Replicas != nil {
		made, err := d.intents.ForPool(pool)
		if err != nil {
			return command.Replacement{}, reason.PoolChanged
		}
		claim = made
	}
	claim.Name = claim.GenerateName + d.o.Suffix()
	if len(c.Pods) > 0 {
		claim.Annotations[ingest.AnnotationRearranged] = begun.UTC().Format(time.RFC3339)
	}
	return command.Replacement{Claim: claim, Pool: pool, Capacity: c.Capacity}, reason.None
}

// begin writes a command that is under way on what it removes, and then closes that and creates the replacements. When a
// write fails, it undoes everything, or the process that finds the marks on the objects does so
// later.
func (d *disruption) begin(ctx context.Context, s *start, number int64) error {
	r, closed := &s.state.Record, time.Time{}
	defer func() { d.underway.Begun(r.ID, closed) }()
	d.tellBegin(ctx, s)
	d.recordOutcome(r, journal.Outcome{Decision: number, Result: journal.Begun})
	if err := d.noteBegun(ctx, r); err != nil {
		d.underway.Abandon(r.ID)
		d.recordOutcome(r, journal.Outcome{Result: journal.Failed, Why: err.Error()})
		return err
	}
	if _, err := d.o.Executor.Perform(ctx, &s.state, s.state.Effects(command.Begin)); err != nil {
		return d.undo(ctx, r, err)
	}
	closed = d.kit.Clock.Now()
	if _, err := d.o.Executor.Perform(ctx, &s.state, s.state.Effects(command.Tell)); err != nil {
		return d.undo(ctx, r, err)
	}
	d.countBegun(r)
	return nil
}

// noteBegun notes on the pools that their roll-outs begin a command.
func (d *disruption) noteBegun(ctx context.Context, r *command.Record) error {
	return d.o.Executor.InTurn(func() error { return d.o.Rollouts.Begun(ctx, *r) })
}

// undo takes back a command that could not be begun. A later evaluation finds on the objects what could
// not be undone now.
func (d *disruption) undo(ctx context.Context, r *command.Record, cause error) error {
	state, err := d.state(ctx, d.kit.Uncached(reconcile.AfterOwnWrite), world.Underway{Record: *r})
	if err == nil {
		err = d.abandon(ctx, state, command.Why{Code: command.BeginFailed, Message: cause.Error()})
	}
	if err != nil {
		reconcile.Log(ctx).Error(err, "could not take back a disruption that was not begun completely", "command-id", r.ID)
	}
	if patch.Outdated(cause) {
		return nil // another writer was faster: the next evaluation sees its change
	}
	return fmt.Errorf("begin disruption %s: %w", r.ID, cause)
}

func kindOf(p *plan.Disruption) string {
	switch {
	case p.Reason == plan.Empty:
		return "empty"
	case p.Reason == plan.Drifted:
		return ""
	case len(p.Nodes) == 1:
		return "single"
	}
	return "multi"
}
