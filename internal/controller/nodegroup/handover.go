package nodegroup

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// Reasons of the condition HandedOver.
const (
	reasonNoInstances = "NoInstances"
	reasonUnderway    = "Underway"
	reasonPaused      = "Paused"
	reasonAtMinimum   = "AtMinimum"
)

// tellHandover says of a group in mode handover how many of its instances are left.
func tellHandover(o *tenonv1alpha1.NodeGroup, g *cloud.Group, nodes map[string]*corev1.Node, now time.Time) {
	set := conditions.Read(o.Status.Conditions, condition.SubjectOf(o), now)
	left, going := int64(0), int64(0)
	for i := range g.Instances {
		node := nodes[g.Instances[i].ProviderID]
		if g.Instances[i].State == cloud.Terminating {
			continue
		}
		left++
		if node != nil && (node.DeletionTimestamp != nil || node.Annotations[karpenterv1.AnnotationDisruption] != "") {
			going++
		}
	}
	text := fmt.Sprintf("%d instances are left, %d of them are being replaced", left, going)
	switch {
	case o.Spec.Mode != tenonv1alpha1.ModeHandover || g.Missing:
		set.Clear(tenonv1alpha1.ConditionHandedOver)
	case max(left, g.Desired) == 0:
		set.SetTrueBecause(tenonv1alpha1.ConditionHandedOver, reasonNoInstances, "the group can be deleted where it was defined")
	case going == 0 && max(left, g.Desired) <= g.Min:
		set.SetFalse(tenonv1alpha1.ConditionHandedOver, reasonAtMinimum, withRemedy(text, fmt.Sprintf("lower the group's minimum of %d to replace them too", g.Min)))
	case o.HandoverPaused():
		set.SetFalse(tenonv1alpha1.ConditionHandedOver, reasonPaused, withRemedy(text, "remove the annotation "+tenonv1alpha1.AnnotationHandoverPaused+" to replace the others"))
	default:
		set.SetFalse(tenonv1alpha1.ConditionHandedOver, reasonUnderway, text)
	}
	o.Status.Conditions = set.List()
}

// taint adds the taint of a hand-over to a node, or removes it, and returns the node as it is then. After a conflict, the next reconciliation writes it again.
func (w watcher) taint(ctx context.Context, node *corev1.Node, handedOver bool) (*corev1.Node, error) {
	is := func(t corev1.Taint) bool { return t.Key == tenonv1alpha1.TaintHandover }
	if slices.ContainsFunc(node.Spec.Taints, is) == handedOver {
		return node, nil
	}
	tainted := node.DeepCopy()
	tainted.Spec.Taints = slices.DeleteFunc(tainted.Spec.Taints, is)
	if handedOver {
		tainted.Spec.Taints = append(tainted.Spec.Taints, corev1.Taint{Key: tenonv1alpha1.TaintHandover, Effect: corev1.TaintEffectPreferNoSchedule})
	}
	err := patch.IfUnchanged(ctx, w.kit, node, tainted)
	switch {
	case err == nil:
		return tainted, nil
	case client.IgnoreNotFound(err) == nil, reconcile.Overtaken(err):
		return node, nil
	}
	return node, fmt.Errorf("write the taint of the hand-over on node %s: %w", node.Name, err)
}
