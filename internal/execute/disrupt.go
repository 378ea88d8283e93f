package execute

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/command"
	"tenon/internal/departure"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// write puts the record of a command on a claim before anything else is done to it. Writes of others do not
// matter, unless the claim goes or is part of a command already: then it counts as gone.
func (e *Executor) write(ctx context.Context, claim *karpenterv1.NodeClaim, r *command.Record) error {
	return patch.Retry(ctx, e.kit, claim, func(now *karpenterv1.NodeClaim) error {
		if now != claim && (now.DeletionTimestamp != nil || now.Annotations[karpenterv1.AnnotationDisruption] != "") {
			return patch.Gone(claim)
		}
		changed := now.DeepCopy()
		set(changed, karpenterv1.AnnotationDisruption, r.String())
		if err := patch.IfUnchanged(ctx, e.kit, now, changed); err != nil {
			return fmt.Errorf("write command %s on claim %s: %w", r.ID, claim.Name, err)
		}
		return nil
	})
}

// close keeps pods from coming to a leaver, and says on its claim why it goes. It writes only what is
// missing. A write that conflicts is repeated when the command is looked at next.
func (e *Executor) close(ctx context.Context, claim string, r *command.Record) error {
	l, found, err := ReadLeaver(ctx, e.kit.Uncached(reconcile.AfterOwnWrite), claim)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("claim %s is gone", claim)
	}
	if err := e.shut(ctx, l, r); !reconcile.Overtaken(err) {
		return err
	}
	return nil
}

func (e *Executor) shut(ctx context.Context, l command.Leaver, r *command.Record) error {
	if l.Node != nil && !departure.Closed(l.Node) {
		closed := l.Node.DeepCopy()
		closed.Spec.Taints = append(closed.Spec.Taints, karpenterv1.TaintDisrupted())
		if err := patch.IfUnchanged(ctx, e.kit, l.Node, closed); err != nil {
			return fmt.Errorf("taint node %s: %w", l.Node.Name, err)
		}
	}
	return e.explain(ctx, l.Claim, string(r.Reason))
}

// explain sets the condition DisruptionReason, or takes it away if there is no reason. Many
// controllers write conditions.
func (e *Executor) explain(ctx context.Context, claim *karpenterv1.NodeClaim, reason string) error {
	return patch.Retry(ctx, e.kit, claim, func(claim *karpenterv1.NodeClaim) error {
		conditions := claim.Conditions(e.kit.Clock.Now())
		changed := false
		if reason == "" {
			changed = conditions.Clear(karpenterv1.ConditionDisruptionReason)
		} else {
			changed = conditions.SetTrueBecause(karpenterv1.ConditionDisruptionReason, reason, reason)
		}
		if !changed {
			return nil
		}
		explained := claim.DeepCopy()
		explained.Status.Conditions = conditions.List()
		if err := patch.StatusIfUnchanged(ctx, e.kit, claim, explained); err != nil {
			return fmt.Errorf("write conditions of claim %s: %w", claim.Name, err)
		}
		return nil
	})
}

// release takes back all that a command has done to a leaver: pods may come again, and
// nothing says that it goes. The record is taken away last, so that a release that stops on
// the way is begun again.
func (e *Executor) release(ctx context.Context, l command.Leaver) error {
	if l.Node != nil && l.Node.DeletionTimestamp == nil && departure.Closed(l.Node) {
		if err := e.open(ctx, l.Node); err != nil {
			return err
		}
	}
	if l.Claim == nil {
		return nil
	}
	if err := e.explain(ctx, l.Claim, ""); client.IgnoreNotFound(err) != nil {
		return err
	}
	return e.forget(ctx, l.Claim)
}

func (e *Executor) open(ctx context.Context, node *corev1.Node) error {
	taint := karpenterv1.TaintDisrupted()
	opened := node.DeepCopy()
	opened.Spec.Taints = slices.DeleteFunc(opened.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
	err := patch.IfUnchanged(ctx, e.kit, node, opened)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take the taint from node %s: %w", node.Name, err)
	}
	return nil
}

// forget takes the record of a command from a claim.
func (e *Executor) forget(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	if _, said := claim.Annotations[karpenterv1.AnnotationDisruption]; !said {
		return nil
	}
	changed := claim.DeepCopy()
	delete(changed.Annotations, karpenterv1.AnnotationDisruption)
	err := patch.Merge(ctx, e.kit, claim, changed)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take the command from claim %s: %w", claim.Name, err)
	}
	return nil
}

// rearrange changes what claims say about when disruptions brought pods to their nodes, which are not
// disrupted again for a while. A claim that is gone says nothing.
func (e *Executor) rearrange(ctx context.Context, claims []string, change func(*karpenterv1.NodeClaim)) error {
	var wrong []error
	for _, name := range claims {
		claim := &karpenterv1.NodeClaim{}
		err := e.kit.Client.Get(ctx, client.ObjectKey{Name: name}, claim)
		if err == nil {
			changed := claim.DeepCopy()
			change(changed)
			err = patch.Merge(ctx, e.kit, claim, changed)
		}
		if client.IgnoreNotFound(err) != nil {
			wrong = append(wrong, fmt.Errorf("note on claim %s that it takes pods: %w", name, err))
		}
	}
	return errors.Join(wrong...)
}

func set(claim *karpenterv1.NodeClaim, key, value string) {
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[key] = value
}

// ReadLeaver reads a claim and its node; false if there is no such claim.
func ReadLeaver(ctx context.Context, reader client.Reader, name string) (command.Leaver, bool, error) {
	claim := &karpenterv1.NodeClaim{}
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, claim); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return command.Leaver{}, false, nil
		}
		return command.Leaver{}, false, fmt.Errorf("read claim %s: %w", name, err)
	}
	l := command.Leaver{Claim: claim}
	if claim.Status.NodeName == "" {
		return l, true, nil
	}
	node := &corev1.Node{}
	err := reader.Get(ctx, client.ObjectKey{Name: claim.Status.NodeName}, node)
	switch {
	case err == nil:
		l.Node = node
	case client.IgnoreNotFound(err) != nil:
		return l, false, fmt.Errorf("read node %s: %w", claim.Status.NodeName, err)
	}
	return l, true, nil
}
