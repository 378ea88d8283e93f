package disruption

import (
	"context"
	"errors"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/standing"
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
	entries := d.desk.list()
	for _, e := range entries {
		if err := d.advance(ctx, e); err != nil && !isConflict(err) {
			wrong = append(wrong, fmt.Errorf("command %s: %w", e.record.ID, err))
		}
	}
	if err := d.tidy(ctx, claims); err != nil {
		wrong = append(wrong, err)
	}
	if err := errors.Join(wrong...); err != nil {
		reconcile.Log(ctx).Error(err, "disruptions are not what they should be yet")
		return reconcile.In(tick), nil
	}
	if len(entries) > 0 {
		return reconcile.In(tick), nil
	}
	return reconcile.In(period), nil
}

// meet enters the commands that claims show: when leaders change, some are not ours. It
// returns the claims.
func (d *disruption) meet(ctx context.Context) ([]*karpenterv1.NodeClaim, error) {
	claims, err := lookup.ClaimsDisrupted(ctx, d.kit.Client)
	now := d.kit.Clock.Now()
	for _, claim := range claims {
		if r, ok := command.Of(claim); ok && r.Takes(claim.Name) {
			d.desk.meet(r, now)
		}
	}
	return claims, err
}

// advance does the next step of a command.
func (d *disruption) advance(ctx context.Context, e *entry) error {
	stage, err := d.stage(ctx, d.kit.Client, e.record)
	if err != nil {
		return err
	}
	stage.Closed = e.closed
	switch step, _ := stage.Next(); step {
	case command.Mark:
		e.closed = time.Time{}
		if stage, err = d.stage(ctx, d.kit.Live, e.record); err != nil {
			return err
		}
		return d.mark(ctx, stage) // a cache that is behind would have us overtaken for as long
	case command.Wait:
		if e.closed.IsZero() {
			e.closed = stage.Now
		}
		d.tellWaiting(stage)
		return nil
	}
	// What cannot be taken back is decided on what the API server has, not on a cache.
	if stage, err = d.stage(ctx, d.kit.Live, e.record); err != nil {
		return err
	}
	stage.Closed = e.closed
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
	s := &command.Stage{Record: r, Now: d.kit.Clock.Now(), Patience: patience(d.desk.size())}
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
	budgets := map[string][]*policyv1.PodDisruptionBudget{}
	objections := map[string]string{}
	var going []command.Leaver
	var names []string
	for _, l := range s.Staying() {
		sight, err := d.sight(ctx, l, budgets)
		if err != nil {
			return err
		}
		_, sight.Expected = d.desk.memory(s.Record.ID)
		if why := s.Record.Objection(sight, s.Now); why != "" {
			objections[l.Claim.Name] = why
			continue
		}
		going, names = append(going, l), append(names, l.Claim.Name)
	}
	d.tellObjections(ctx, s, objections)
	if !s.Record.WorthGoingOn(names) {
		return d.abandon(ctx, s, firstOf(s, objections))
	}
	if err := d.o.Executor.Rearrange(ctx, s.Record.Receivers, s.Now); err != nil {
		return err
	}
	var wrong []error
	for _, l := range going {
		deleted, err := removal.Delete(ctx, d.kit, l.Claim, removal.Reason(label(s.Record.Reason)))
		if err != nil {
			wrong = append(wrong, err) // it has changed since: look at it again
			continue
		}
		if deleted {
			d.tellRemoved(ctx, s, l)
		}
	}
	for _, l := range s.Staying() {
		if objections[l.Claim.Name] != "" {
			d.o.World.DisarrangeOn(nameOf(l))
			wrong = append(wrong, d.o.Executor.Release(ctx, l))
		}
	}
	return errors.Join(wrong...)
}

// sight reads what is on a node now.
func (d *disruption) sight(ctx context.Context, l command.Leaver, budgets map[string][]*policyv1.PodDisruptionBudget) (command.Sight, error) {
	s := command.Sight{Leaver: l, Budgets: budgets}
	if l.Node == nil {
		return s, nil
	}
	var err error
	if s.Pods, err = lookup.PodsOn(ctx, d.kit.Live, l.Node.Name); err != nil {
		return s, err
	}
	for _, pod := range s.Pods {
		if _, known := budgets[pod.Namespace]; known {
			continue
		}
		var list policyv1.PodDisruptionBudgetList
		if err := d.kit.Live.List(ctx, &list, client.InNamespace(pod.Namespace)); err != nil {
			return s, fmt.Errorf("list the budgets of namespace %s: %w", pod.Namespace, err)
		}
		found := make([]*policyv1.PodDisruptionBudget, len(list.Items))
		for i := range list.Items {
			found[i] = &list.Items[i]
		}
		budgets[pod.Namespace] = found
	}
	return s, nil
}

// abandon takes a command back: replacements that nobody needs go first, since the record
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
	places, _ := d.desk.memory(s.Record.ID)
	for _, p := range places {
		d.o.World.Disarrange(p.pods)
	}
	d.desk.drop(s.Record.ID, s.Now)
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
			needed = needed || standing.Active(pod) && standing.Reschedulable(pod)
		}
	}
	if needed {
		return d.o.Executor.Forget(ctx, claim)
	}
	_, err := removal.Delete(ctx, d.kit, claim, removal.Empty)
	return err
}

// conclude ends a command whose nodes are all gone or going. The record is taken from the
// claims last: whoever finds it there concludes again.
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
	d.desk.drop(s.Record.ID, s.Now)
	return nil
}

// tidy takes back marks that belong to no command: those of a process that ran before, or
// of one that was abandoned while a write was under way.
func (d *disruption) tidy(ctx context.Context, claims []*karpenterv1.NodeClaim) error {
	active := map[string]bool{}
	for _, r := range d.desk.records() {
		for _, m := range r.Claims {
			active[m.Claim] = true
		}
		for _, m := range r.Replacements {
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

// firstOf is the objection that is told of when a command is given up.
func firstOf(s *command.Stage, objections map[string]string) string {
	for _, l := range s.Staying() {
		if why := objections[l.Claim.Name]; why != "" {
			return nameOf(l) + ": " + why
		}
	}
	return "nothing is left of it"
}

// nameOf a leaver, as people know it.
func nameOf(l command.Leaver) string {
	if l.Node != nil {
		return l.Node.Name
	}
	return l.Claim.Name
}
