package disruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/reason"
	"tenon/internal/command"
	"tenon/internal/execute"
	"tenon/internal/journal"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
	"tenon/internal/world"
)

// tick is how often commands under way are checked.
const tick = time.Second

// conduct takes every command one step further, side by side, but for those whose nodes have been closed only now: they wait, and our
// own watches may not show yet what we wrote. If one fails, the others still go on.
func (d *disruption) conduct(ctx context.Context) (reconcile.Result, error) {
	if !d.o.Synced() {
		return reconcile.In(unsyncedRetry), nil
	}
	carriers, err := d.meet(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	var wrong []error
	if err := d.tidy(ctx, carriers); err != nil && !reconcile.Overtaken(err) {
		wrong = append(wrong, err)
	}
	underway := slices.DeleteFunc(d.underway.List(), func(u world.Underway) bool { return u.Beginning || d.settles(u) > 0 })
	wrong = append(wrong, d.o.Executor.SideBySide(len(underway), func(i int) error {
		if err := d.advance(ctx, underway[i]); err != nil && !reconcile.Overtaken(err) {
			return fmt.Errorf("command %s: %w", underway[i].Record.ID, err)
		}
		return nil
	}), d.release(ctx))
	if err := errors.Join(wrong...); err != nil {
		reconcile.Log(ctx).Error(err, "disruptions are not what they should be yet")
		return reconcile.In(tick), nil
	}
	return reconcile.In(d.nextStep()), nil
}

// settles is how long the nodes of a command are still to be closed before the next step.
func (d *disruption) settles(u world.Underway) time.Duration {
	if u.Closed.IsZero() {
		return 0
	}
	return u.Closed.Add(command.Settle).Sub(d.kit.Clock.Now())
}

// nextStep is when to look at the commands again.
func (d *disruption) nextStep() time.Duration {
	next := period
	for _, u := range d.underway.List() {
		switch left := d.settles(u); {
		case u.Beginning: // wakes us
		case left > 0:
			next = min(next, left)
		default:
			next = min(next, tick)
		}
	}
	return next
}

// meet registers the commands found on claims and nodes: when leaders change, another process may
// have begun some. Objects keep the record while they are being deleted; one that has been for long tells of a command
// that was over long ago. It returns all objects with a record.
func (d *disruption) meet(ctx context.Context) ([]client.Object, error) {
	claims, err := lookup.ClaimsDisrupted(ctx, d.kit.Client)
	if err != nil {
		return nil, err
	}
	nodes, err := lookup.NodesDisrupted(ctx, d.kit.Client)
	if err != nil {
		return nil, err
	}
	now := d.kit.Clock.Now()
	isOver := func(o client.Object) bool {
		gone := o.GetDeletionTimestamp()
		return gone != nil && now.Sub(gone.Time) >= world.PastFor
	}
	var carriers []client.Object
	for _, claim := range claims {
		if r, ok := command.Of(claim); ok && r.Takes(claim.Name) && !isOver(claim) {
			d.underway.Restore(r)
		}
		carriers = append(carriers, claim)
	}
	for _, node := range nodes {
		if r, ok := command.Of(node); ok && !isOver(node) {
			d.underway.Restore(r)
		}
		carriers = append(carriers, node)
	}
	return carriers, nil
}

// advance takes the next step of a command. It reads from the API server, not from a cache: some steps
// cannot be undone, and with an old cache every write would conflict.
func (d *disruption) advance(ctx context.Context, u world.Underway) error {
	state, err := d.state(ctx, d.kit.Client, u)
	if err != nil {
		return err
	}
	switch step, why := state.Next(); step {
	case command.Mark:
		u.Closed = time.Time{}
		d.underway.Closed(u.Record.ID, u.Closed)
	case command.Wait:
		if u.Closed.IsZero() {
			d.underway.Closed(u.Record.ID, state.Now)
		}
		d.tellWaiting(state)
		return nil
	case command.Over: // no node comes back that is gone, or being deleted
		return d.take(ctx, state, step, why)
	}
	if state, err = d.state(ctx, d.kit.Uncached(reconcile.BeforeRemoval), u); err != nil {
		return err
	}
	step, why := state.Next()
	return d.take(ctx, state, step, why)
}

// take carries out a step.
func (d *disruption) take(ctx context.Context, s *command.State, step command.Step, why command.Why) error {
	switch step {
	case command.Look:
		return d.remove(ctx, s)
	case command.Abandon:
		if s.Unaware == 0 { // its replacements failed, and say why as long as they exist
			if err := d.ended(ctx, s, why); err != nil {
				return err
			}
		}
		return d.abandon(ctx, s, why)
	case command.Over:
		if err := d.succeeded(ctx, s); err != nil {
			return err
		}
	}
	realised := d.realised(s)
	_, err := d.o.Executor.Perform(ctx, s, s.Effects(step))
	if err == nil && step == command.Over {
		d.underway.End(s.Record.ID)
		value := realised.Float()
		d.recordOutcome(&s.Record, journal.Outcome{Result: journal.Over, Realised: &value})
	}
	return err
}

// state reads the objects of a command.
func (d *disruption) state(ctx context.Context, reader client.Reader, u world.Underway) (*command.State, error) {
	r := u.Record
	s := &command.State{Record: r, Now: d.kit.Clock.Now(), Closed: u.Closed, Patience: patience(d.underway.Machines())}
	leavers, found := make([]command.Leaver, len(r.Claims)), make([]bool, len(r.Claims))
	err := d.o.Executor.SideBySide(len(r.Claims), func(i int) (err error) {
		leavers[i], found[i], err = execute.ReadLeaver(ctx, reader, r.Claims[i].Claim)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, l := range leavers {
		if !found[i] {
			continue
		}
		switch own, ok := command.Of(l.Carrier()); {
		case ok && own.ID == r.ID:
			s.Leavers = append(s.Leavers, l)
		case l.Carrier().GetDeletionTimestamp() == nil:
			s.Unaware++
		}
	}
	for _, m := range r.Replacements {
		claim := &karpenterv1.NodeClaim{}
		err := reader.Get(ctx, client.ObjectKey{Name: m.Claim}, claim)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read claim %s: %w", m.Claim, err)
		}
		if err != nil {
			claim = nil
		}
		s.Replacements = append(s.Replacements, claim)
	}
	return s, nil
}

// patience is how long replacements may take: longer if many are under way.
func patience(machines int) time.Duration {
	return min(max(time.Duration(machines)*80*time.Millisecond, 10*time.Minute), time.Hour)
}

// remove checks the nodes once more, and deletes the claims of those without an objection. A view of the pods that is as new as the node, which
// has the taint, has every pod that came before it.
func (d *disruption) remove(ctx context.Context, s *command.State) error {
	staying := s.Staying()
	pods := make([][]*corev1.Pod, len(staying))
	err := d.o.Executor.SideBySide(len(staying), func(i int) (err error) {
		if node := staying[i].Node; node != nil {
			pods[i], err = lookup.PodsSince(ctx, d.kit.Uncached(reconcile.BeforeRemoval), node.Name, node.ResourceVersion)
		}
		return err
	})
	if err != nil {
		return err
	}
	look, objections := d.secondLook(s), map[string]reason.Cause{}
	for i, l := range staying {
		cause, err := look.objection(ctx, l, pods[i])
		if err != nil {
			return err
		}
		if cause.Code != reason.None {
			objections[l.Member()] = cause
		}
	}
	d.tellObjections(ctx, s, objections)
	outcome := s.Judge(objections)
	if outcome.Abandon.Code != reason.None {
		return d.abandon(ctx, s, outcome.Abandon)
	}
	for _, l := range outcome.Released {
		d.o.World.CancelPlacesOn(l.Name())
	}
	deleted, err := d.o.Executor.Perform(ctx, s, s.Removal(outcome))
	for _, l := range deleted {
		d.tellRemoved(ctx, s, l)
	}
	if err != nil || len(deleted) < len(staying) {
		return err
	}
	return d.take(ctx, s, command.Over, command.Why{Code: command.NoNodeLeft})
}

// abandon takes a command back.
func (d *disruption) abandon(ctx context.Context, s *command.State, why command.Why) error {
	d.tellAbandoned(ctx, s, why.Text())
	if _, err := d.o.Executor.Perform(ctx, s, s.Effects(command.Abandon)); err != nil {
		return err
	}
	if s.Going() { // the pods of nodes that go keep their places
		for _, l := range s.Staying() {
			d.o.World.CancelPlacesOn(l.Name())
		}
		d.underway.End(s.Record.ID)
	} else {
		d.underway.Abandon(s.Record.ID)
	}
	d.recordOutcome(&s.Record, journal.Outcome{Result: journal.Abandoned, Why: why.Text()})
	return nil
}

// release counts where moved pods arrived. It lets nodes be disrupted again if the pods planned for them
// went elsewhere.
func (d *disruption) release(ctx context.Context) error {
	var wrong []error
	for _, a := range d.underway.Arrived() {
		d.kit.Metrics.PodsMovesTotal.WithLabelValues("true").Add(float64(a.Landed))
		d.kit.Metrics.PodsMovesTotal.WithLabelValues("false").Add(float64(a.Strayed))
		if len(a.Astray) == 0 {
			continue
		}
		_, err := d.o.Executor.Perform(ctx, &command.State{Now: d.kit.Clock.Now()}, command.Astray(a.Astray, a.Begun))
		wrong = append(wrong, err)
	}
	return errors.Join(wrong...)
}

// tidy removes marks that belong to no command: those of an earlier process, or of one that was
// abandoned while a write was under way.
func (d *disruption) tidy(ctx context.Context, carriers []client.Object) error {
	active := map[string]bool{}
	for _, u := range d.underway.List() {
		for _, m := range u.Record.Claims {
			active[m.Claim] = true
		}
		for _, m := range u.Record.Replacements {
			active[m.Claim] = true
		}
	}
	var recorded []client.Object
	for _, carrier := range carriers {
		if carrier.GetDeletionTimestamp() == nil && !active[command.MemberFor(carrier)] {
			recorded = append(recorded, carrier)
		}
	}
	none := &command.State{Now: d.kit.Clock.Now()}
	_, err := d.o.Executor.Perform(ctx, none, command.Unrecord(recorded))
	wrong := []error{err}
	var marked []command.Leaver
	for _, name := range d.o.World.Closed() {
		if active[name] {
			continue
		}
		l, found, err := execute.ReadLeaver(ctx, d.kit.Uncached(reconcile.BeforeRemoval), name)
		if wrong = append(wrong, err); err == nil && found {
			marked = append(marked, l)
		}
	}
	_, err = d.o.Executor.Perform(ctx, none, command.Unmark(marked))
	return errors.Join(append(wrong, err)...)
}
