package disruption

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/core/reason"
	"tenon/internal/command"
	"tenon/internal/lookup"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/world"
)

// tick is how often commands are looked at while there are any.
const tick = time.Second

// conduct takes every command one step further. One that fails keeps no other back.
func (d *disruption) conduct(ctx context.Context) (reconcile.Result, error) {
	if !d.o.Synced() {
		return reconcile.In(unsyncedRetry), nil
	}
	claims, err := d.meet(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	var wrong []error
	underway := slices.DeleteFunc(d.underway.List(), func(u world.Underway) bool { return u.Beginning })
	for _, u := range underway {
		if err := d.advance(ctx, u); err != nil && !isConflict(err) {
			wrong = append(wrong, fmt.Errorf("command %s: %w", u.Record.ID, err))
		}
	}
	if err := d.tidy(ctx, claims); err != nil {
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		reconcile.Log(ctx).Error(err, "disruptions are not what they should be yet")
		return reconcile.In(tick), nil
	}
	if len(underway) > 0 {
		return reconcile.In(tick), nil
	}
	return reconcile.In(period), nil
}

// meet enters the commands that claims show: when leaders change, some are not ours. It
// returns the claims.
func (d *disruption) meet(ctx context.Context) ([]*karpenterv1.NodeClaim, error) {
	claims, err := lookup.ClaimsDisrupted(ctx, d.kit.Client)
	for _, claim := range claims {
		if r, ok := command.Of(claim); ok && r.Takes(claim.Name) {
			d.underway.Meet(r)
		}
	}
	return claims, err
}

// advance does the next step of a command.
func (d *disruption) advance(ctx context.Context, u world.Underway) error {
	stage, err := d.stage(ctx, d.kit.Client, u.Record)
	if err != nil {
		return err
	}
	stage.Closed = u.Closed
	switch step, _ := stage.Next(); step {
	case command.Mark:
		d.underway.Closed(u.Record.ID, time.Time{})
		if stage, err = d.stage(ctx, d.kit.Live, u.Record); err != nil {
			return err
		}
		return d.mark(ctx, stage) // a cache that is behind would have us overtaken for as long
	case command.Wait:
		if u.Closed.IsZero() {
			d.underway.Closed(u.Record.ID, stage.Now)
		}
		d.tellWaiting(stage)
		return nil
	}
	// What cannot be taken back is decided on what the API server has, not on a cache.
	if stage, err = d.stage(ctx, d.kit.Live, u.Record); err != nil {
		return err
	}
	stage.Closed = u.Closed
	step, why := stage.Next()
	if step == command.Abandon {
		if stage.Unaware == 0 { // its replacements are to blame, and say so as long as they are there
			if err := d.ended(ctx, stage, why); err != nil {
				return err
			}
		}
		return d.abandon(ctx, stage, why)
	}
	switch step {
	case command.Look:
		return d.remove(ctx, stage)
	case command.Over:
		return d.conclude(ctx, stage)
	}
	return nil // the cache was behind
}

// stage reads the objects of a command.
func (d *disruption) stage(ctx context.Context, reader client.Reader, r command.Record) (*command.Stage, error) {
	s := &command.Stage{Record: r, Now: d.kit.Clock.Now(), Patience: patience(d.underway.Machines())}
	for _, m := range r.Claims {
		l, found, err := d.leaver(ctx, reader, m.Claim)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		switch own, ok := command.Of(l.Claim); {
		case ok && own.ID == r.ID:
			s.Leavers = append(s.Leavers, l)
		case l.Claim.DeletionTimestamp == nil:
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

// patience is how long replacements may take: longer where many are under way.
func patience(machines int) time.Duration {
	return min(max(time.Duration(machines)*80*time.Millisecond, 10*time.Minute), time.Hour)
}

func (d *disruption) mark(ctx context.Context, s *command.Stage) error {
	var wrong []error
	for _, l := range s.Staying() {
		if err := d.o.Executor.Close(ctx, l, &s.Record); err != nil && !isConflict(err) {
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}

// remove looks at the nodes once more, and deletes the claims of those that nothing keeps.
func (d *disruption) remove(ctx context.Context, s *command.Stage) error {
	look, objections := d.secondLook(s), map[string]reason.Cause{}
	for _, l := range s.Staying() {
		cause, err := look.objection(ctx, l)
		if err != nil {
			return err
		}
		if cause.Code != reason.None {
			objections[l.Claim.Name] = cause
		}
	}
	d.tellObjections(ctx, s, objections)
	outcome := s.Judge(objections)
	if outcome.Abandon != "" {
		return d.abandon(ctx, s, outcome.Abandon)
	}
	if err := d.o.Executor.Rearrange(ctx, s.Record.Receivers, s.Now); err != nil {
		return err
	}
	var wrong []error
	for _, l := range outcome.Going {
		deleted, err := removal.Delete(ctx, d.kit, l.Claim, removal.Reason(label(s.Record.Reason)))
		if err != nil {
			wrong = append(wrong, err) // it has changed since: look at it again
			continue
		}
		if deleted {
			d.tellRemoved(ctx, s, l)
		}
	}
	for _, l := range outcome.Released {
		d.o.World.DisarrangeOn(l.Name())
		wrong = append(wrong, d.o.Executor.Release(ctx, l))
	}
	return errors.Join(wrong...)
}

// abandon takes a command back: replacements that are not needed go first, since the record
// on the leavers is what says that they were made for it.
func (d *disruption) abandon(ctx context.Context, s *command.Stage, why string) error {
	d.tellAbandoned(ctx, s, why)
	var wrong []error
	for _, r := range s.Replacements {
		if r == nil {
			continue
		}
		if err := d.spare(ctx, r); err != nil {
			wrong = append(wrong, err)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	for _, l := range s.Staying() {
		if err := d.o.Executor.Release(ctx, l); err != nil {
			wrong = append(wrong, err)
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	d.underway.Abandon(s.Record.ID)
	return nil
}

// spare deletes a replacement that nothing has come to, and lets it live otherwise.
func (d *disruption) spare(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	needed := d.o.World.Promised(claim.Name)
	if claim.Status.NodeName != "" && !needed {
		pods, err := lookup.PodsOn(ctx, d.kit.Live, claim.Status.NodeName)
		if err != nil {
			return err
		}
		for _, pod := range pods {
			needed = needed || podpolicy.Active(pod) && podpolicy.Reschedulable(pod)
		}
	}
	if needed {
		return d.o.Executor.Forget(ctx, claim)
	}
	_, err := removal.Delete(ctx, d.kit, claim, removal.Empty)
	return err
}

// conclude ends a command whose nodes are all gone or going. The record is taken from the
// claims last: a process that finds it there concludes again.
func (d *disruption) conclude(ctx context.Context, s *command.Stage) error {
	if err := d.succeeded(ctx, s); err != nil {
		return err
	}
	for _, r := range s.Replacements {
		if r != nil {
			if err := d.o.Executor.Forget(ctx, r); err != nil {
				return err
			}
		}
	}
	for _, l := range s.Leavers {
		if err := d.o.Executor.Forget(ctx, l.Claim); err != nil {
			return err
		}
	}
	d.underway.End(s.Record.ID)
	return nil
}

// tidy takes back marks that belong to no command: those of a process that ran before, or
// of one that was abandoned while a write was under way.
func (d *disruption) tidy(ctx context.Context, claims []*karpenterv1.NodeClaim) error {
	active := map[string]bool{}
	for _, u := range d.underway.List() {
		for _, m := range u.Record.Claims {
			active[m.Claim] = true
		}
		for _, m := range u.Record.Replacements {
			active[m.Claim] = true
		}
	}
	var wrong []error
	for _, claim := range claims { // replacements whose command is over, and records that cannot be read
		if !active[claim.Name] {
			wrong = append(wrong, d.o.Executor.Forget(ctx, claim))
		}
	}
	for _, name := range d.o.World.Closed() {
		if active[name] {
			continue
		}
		l, found, err := d.leaver(ctx, d.kit.Live, name)
		if err != nil || !found || l.Claim.DeletionTimestamp != nil || l.Node != nil && l.Node.DeletionTimestamp != nil {
			wrong = append(wrong, err)
			continue
		}
		if r, ok := command.Of(l.Claim); ok && r.Takes(name) {
			continue // our cache had not seen it
		}
		wrong = append(wrong, d.o.Executor.Release(ctx, l))
	}
	err := errors.Join(wrong...)
	if isConflict(err) {
		return nil
	}
	return err
}

// label is how metrics name a reason.
func label(r plan.Reason) string {
	switch r {
	case plan.Empty:
		return string(removal.Empty)
	case plan.Drifted:
		return string(removal.Drifted)
	}
	return string(removal.Underutilized)
}

func isConflict(err error) bool { return err != nil && apierrors.IsConflict(err) }
