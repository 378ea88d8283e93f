package execute

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/command"
	"tenon/internal/lookup"
	"tenon/internal/podpolicy"
	"tenon/internal/removal"
)

// Perform does the effects of a step of a command, group by group: one that fails keeps no other of
// its group back, and all later groups. It returns the claims that it has deleted.
func (e *Executor) Perform(ctx context.Context, s *command.Stage, groups [][]command.Effect) (deleted []command.Leaver, err error) {
	for _, group := range groups {
		var wrong []error
		for _, effect := range group {
			done, err := e.perform(ctx, s, effect)
			if done && effect.Do == command.Delete {
				deleted = append(deleted, effect.Leaver)
			}
			wrong = append(wrong, err)
		}
		if err := errors.Join(wrong...); err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// perform does one effect, and reports whether it was this call that did it.
func (e *Executor) perform(ctx context.Context, s *command.Stage, effect command.Effect) (bool, error) {
	switch effect.Do {
	case command.Close:
		err := e.Close(ctx, effect.Leaver, &s.Record)
		if apierrors.IsConflict(err) {
			return false, nil // it is done when the command is looked at next
		}
		return err == nil, err
	case command.Receive:
		return true, e.Rearrange(ctx, effect.Receivers, s.Now)
	case command.Delete:
		return removal.Delete(ctx, e.kit, effect.Leaver.Claim, removal.ReasonOf(s.Record.Reason))
	case command.Release:
		return true, e.Release(ctx, effect.Leaver)
	case command.Drop:
		return e.drop(ctx, effect.Claim)
	case command.Forget:
		return true, e.Forget(ctx, effect.Claim)
	}
	panic("no such effect: " + string(effect.Do))
}

// drop deletes a replacement that nothing has come to, and lets it live otherwise.
func (e *Executor) drop(ctx context.Context, claim *karpenterv1.NodeClaim) (bool, error) {
	needed := e.world.Promised(claim.Name)
	if claim.Status.NodeName != "" && !needed {
		pods, err := lookup.PodsOn(ctx, e.kit.Live, claim.Status.NodeName)
		if err != nil {
			return false, err
		}
		for _, pod := range pods {
			needed = needed || podpolicy.Active(pod) && podpolicy.Reschedulable(pod)
		}
	}
	if needed {
		return true, e.Forget(ctx, claim)
	}
	return removal.Delete(ctx, e.kit, claim, removal.Empty)
}
