package execute

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/reason"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/lookup"
	"tenon/internal/parallel"
	"tenon/internal/podpolicy"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
)

// mostAtOnce is how many commands, or objects of one command, are read or written at the same time.
const mostAtOnce = 20

// SideBySide does a piece of work on every index from 0 to n, several at the same time, also after failures.
func (e *Executor) SideBySide(n int, work func(i int) error) error {
	return parallel.TryEach(min(e.parallel, mostAtOnce), n, work)
}

// InTurn does a piece of work while no other is done in turn: notes of several commands on one object would conflict. With one command at
// a time nothing waits: a simulation may come here again from within the work, for another controller.
func (e *Executor) InTurn(work func() error) error {
	if e.parallel > 1 {
		e.turn.Lock()
		defer e.turn.Unlock()
	}
	return work()
}

// Perform performs the effects of a step of a command, group by group. If an effect fails, the others of
// its group are still performed, and later groups are not begun. It returns the claims that it has
// deleted.
func (e *Executor) Perform(ctx context.Context, s *command.State, groups [][]command.Effect) (deleted []command.Leaver, err error) {
	for _, group := range groups {
		done := make([]bool, len(group))
		err := e.SideBySide(len(group), func(i int) (err error) {
			done[i], err = e.perform(ctx, s, group[i])
			return err
		})
		for i := range group {
			if done[i] && group[i].Do == command.Delete {
				deleted = append(deleted, group[i].Leaver)
			}
		}
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// perform performs one effect, and reports whether this call changed the object.
func (e *Executor) perform(ctx context.Context, s *command.State, effect command.Effect) (bool, error) {
	switch effect.Do {
	case command.Write:
		return true, e.write(ctx, effect.Leaver, &s.Record)
	case command.Close:
		return true, ifNotOvertaken(e.shut(ctx, effect.Leaver))
	case command.Explain:
		return true, ifNotOvertaken(e.tell(ctx, effect.Leaver, &s.Record))
	case command.Launch:
		return true, e.replace(ctx, s, effect.Replacement)
	case command.Receive:
		return true, e.rearrange(ctx, effect.Receivers, func(o metav1.Object) { ingest.Rearrange(o, effect.At) })
	case command.NotReceived:
		return true, e.rearrange(ctx, effect.Receivers, func(o metav1.Object) { ingest.NotRearranged(o, effect.At) })
	case command.Delete:
		return e.remove(ctx, effect.Leaver, removal.ReasonOf(s.Record.Reason))
	case command.Release:
		return true, e.release(ctx, effect.Leaver)
	case command.Drop:
		return e.drop(ctx, effect.Claim)
	case command.Forget:
		return true, e.forget(ctx, effect.Carrier)
	}
	panic("no such effect: " + string(effect.Do))
}

func (e *Executor) remove(ctx context.Context, l command.Leaver, why removal.Reason) (bool, error) {
	if l.Claim == nil {
		return removal.DeleteNode(ctx, e.kit, l.Node, why)
	}
	return removal.Delete(ctx, e.kit, l.Claim, why)
}

// replace creates a replacement, or says why it must not be created any more.
func (e *Executor) replace(ctx context.Context, s *command.State, r command.Replacement) error {
	o := e.launch(ctx, Order{Claim: r.Claim, Pool: r.Pool, Capacity: r.Capacity, Reason: string(removal.ReasonOf(s.Record.Reason))})
	if o.Dropped.Code != reason.None {
		return fmt.Errorf("make claim %s of pool %s: %s", r.Claim.Name, r.Pool.Name, o.Dropped.Text())
	}
	return o.Err
}

// drop deletes a replacement without pods; one with pods is kept, and only its record is removed.
func (e *Executor) drop(ctx context.Context, claim *karpenterv1.NodeClaim) (bool, error) {
	needed := e.world.Promised(claim.Name)
	if claim.Status.NodeName != "" && !needed {
		pods, err := lookup.PodsOn(ctx, e.kit.Uncached(reconcile.BeforeRemoval), claim.Status.NodeName)
		if err != nil {
			return false, err
		}
		for _, pod := range pods {
			needed = needed || podpolicy.Active(pod) && podpolicy.Reschedulable(pod)
		}
	}
	if needed {
		return true, e.forget(ctx, claim)
	}
	return removal.Delete(ctx, e.kit, claim, removal.Empty)
}
