package execute

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/reason"
	"tenon/internal/command"
	"tenon/internal/departure"
	"tenon/internal/mark"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// write puts the record of a command on a leaver before anything else is done to it. Afterwards, the leaver is as the API server has it.
func (e *Executor) write(ctx context.Context, l command.Leaver, r *command.Record) error {
	if l.Claim == nil {
		return record(ctx, e, l.Node, r)
	}
	return record(ctx, e, l.Claim, r)
}

// record writes on a claim, or a node without one. It ignores changes by other writers, unless the object is being
// deleted or is already part of a command: then it counts as gone.
func record[T any, P interface {
	*T
	client.Object
}](ctx context.Context, e *Executor, carrier P, r *command.Record) error {
	return patch.Retry(ctx, e.kit, carrier, func(now P) error {
		if now != carrier && (now.GetDeletionTimestamp() != nil || now.GetAnnotations()[karpenterv1.AnnotationDisruption] != "") {
			return patch.Gone(carrier)
		}
		changed := now.DeepCopyObject().(P)
		said := maps.Clone(now.GetAnnotations())
		if said == nil {
			said = map[string]string{}
		}
		said[karpenterv1.AnnotationDisruption] = r.String()
		changed.SetAnnotations(said)
		if err := patch.IfUnchanged(ctx, e.kit, now, changed); err != nil {
			return fmt.Errorf("write command %s on %T %s: %w", r.ID, carrier, carrier.GetName(), err)
		}
		*carrier = *changed
		return nil
	})
}

// ifNotOvertaken is nil if the error says that a write conflicts again and again: it is repeated when the command is next processed.
func ifNotOvertaken(err error) error {
	if reconcile.Overtaken(err) {
		return nil
	}
	return err
}

// tell says on a leaver's claim why it is removed. On a node without a claim the record says it.
func (e *Executor) tell(ctx context.Context, l command.Leaver, r *command.Record) error {
	if l.Claim == nil {
		return nil
	}
	return e.explain(ctx, l.Claim, func(s *condition.Set) bool {
		return mark.Leaving(s, r.Reason, reason.InCurrency(r.Outline().Text(), e.kit.Cloud.Describe().Currency))
	})
}

// shut keeps new pods off a leaver's node, which a claim may have lost.
func (e *Executor) shut(ctx context.Context, l command.Leaver) error {
	if l.Node == nil {
		return nil
	}
	err := patch.Retry(ctx, e.kit, l.Node, func(node *corev1.Node) error {
		if departure.Closed(node) {
			return nil
		}
		closed := node.DeepCopy()
		closed.Spec.Taints = append(closed.Spec.Taints, karpenterv1.TaintDisrupted())
		if group, _ := e.world.GroupObject(departure.Group(node)); l.Claim == nil && group != nil && group.Spec.Mode == tenonv1alpha1.ModeCAS {
			closed.Spec.Taints = append(closed.Spec.Taints, toBeDeleted(e.kit.Clock.Now()))
			if e.kit.Settings.GroupDrain.Cordon && !closed.Spec.Unschedulable {
				closed.Spec.Unschedulable = true
				metav1.SetMetaDataAnnotation(&closed.ObjectMeta, tenonv1alpha1.AnnotationCordoned, "true")
			}
		}
		if err := patch.IfUnchanged(ctx, e.kit, node, closed); err != nil {
			return fmt.Errorf("taint node %s: %w", node.Name, err)
		}
		return nil
	})
	if l.Claim != nil {
		return client.IgnoreNotFound(err)
	}
	return err
}

// toBeDeleted is the taint by which programs for Cluster Autoscaler, such as controllers of load balancers, recognise a node
// that is being removed.
func toBeDeleted(now time.Time) corev1.Taint {
	return corev1.Taint{Key: tenonv1alpha1.TaintToBeDeleted, Value: strconv.FormatInt(now.Unix(), 10), Effect: corev1.TaintEffectNoSchedule}
}

// explain changes what the conditions of a claim say about its removal. Many controllers write conditions.
func (e *Executor) explain(ctx context.Context, claim *karpenterv1.NodeClaim, change func(*condition.Set) bool) error {
	return patch.Retry(ctx, e.kit, claim, func(claim *karpenterv1.NodeClaim) error {
		conditions := claim.Conditions(e.kit.Clock.Now())
		if !change(&conditions) {
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

// release undoes all that a command has done to a leaver: new pods may be bound again, and nothing
// says that it is being removed. The record is removed last, so that an interrupted release is
// begun again.
func (e *Executor) release(ctx context.Context, l command.Leaver) error {
	if l.Node != nil && l.Node.DeletionTimestamp == nil && departure.Closed(l.Node) {
		if err := e.open(ctx, l.Node); err != nil {
			return err
		}
	}
	if l.Claim != nil {
		if err := e.explain(ctx, l.Claim, mark.Staying); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return e.forget(ctx, l.Carrier())
}

func (e *Executor) open(ctx context.Context, node *corev1.Node) error {
	taint := karpenterv1.TaintDisrupted()
	opened := node.DeepCopy()
	opened.Spec.Taints = slices.DeleteFunc(opened.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) || t.Key == tenonv1alpha1.TaintToBeDeleted })
	if _, cordoned := opened.Annotations[tenonv1alpha1.AnnotationCordoned]; cordoned {
		opened.Spec.Unschedulable = false
		delete(opened.Annotations, tenonv1alpha1.AnnotationCordoned)
	}
	err := patch.IfUnchanged(ctx, e.kit, node, opened)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take the taint from node %s: %w", node.Name, err)
	}
	return nil
}

// forget removes the record of a command from the object that carries it.
func (e *Executor) forget(ctx context.Context, carrier client.Object) error {
	if _, said := carrier.GetAnnotations()[karpenterv1.AnnotationDisruption]; !said {
		return nil
	}
	changed := carrier.DeepCopyObject().(client.Object)
	said := maps.Clone(carrier.GetAnnotations())
	delete(said, karpenterv1.AnnotationDisruption)
	changed.SetAnnotations(said)
	err := patch.Merge(ctx, e.kit, carrier, changed)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take the command from %T %s: %w", carrier, carrier.GetName(), err)
	}
	return nil
}

// rearrange changes the record, on claims and on nodes without one, of when disruptions brought pods to the nodes; such
// nodes are not disrupted again for a while. Objects that are gone are skipped.
func (e *Executor) rearrange(ctx context.Context, members []string, change func(metav1.Object)) error {
	return e.SideBySide(len(members), func(i int) error {
		var carrier client.Object = &karpenterv1.NodeClaim{}
		name := members[i]
		if node, alone := command.NodeOf(name); alone {
			carrier, name = &corev1.Node{}, node
		}
		err := e.kit.Client.Get(ctx, client.ObjectKey{Name: name}, carrier)
		if err == nil {
			changed := carrier.DeepCopyObject().(client.Object)
			change(changed)
			err = patch.Merge(ctx, e.kit, carrier, changed)
		}
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("note on %s that it takes pods: %w", members[i], err)
		}
		return nil
	})
}

// ReadLeaver reads a claim and its node, or a node without a claim; false if there is no such object.
func ReadLeaver(ctx context.Context, reader client.Reader, member string) (command.Leaver, bool, error) {
	if name, alone := command.NodeOf(member); alone {
		node := &corev1.Node{}
		if err := reader.Get(ctx, client.ObjectKey{Name: name}, node); client.IgnoreNotFound(err) != nil {
			return command.Leaver{}, false, fmt.Errorf("read node %s: %w", name, err)
		} else if err != nil {
			return command.Leaver{}, false, nil
		}
		return command.Leaver{Node: node}, true, nil
	}
	return readClaim(ctx, reader, member)
}

func readClaim(ctx context.Context, reader client.Reader, name string) (command.Leaver, bool, error) {
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
