package nodegroup

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// abandonedAfter is how old the taint of a removal is that no program goes on with. (Cluster Autoscaler: the taint is ignored
// when it is older.)
const abandonedAfter = 5 * time.Minute

// tidy takes back what a Cluster Autoscaler that does not run any more has begun with the node of a group: without that, a node
// whose removal it did not finish takes no pods for ever.
func (w watcher) tidy(ctx context.Context, node *corev1.Node, o *tenonv1alpha1.NodeGroup) error {
	if !o.Free() || !w.isLeftover(node, o) {
		return nil
	}
	tidied := node.DeepCopy()
	tidied.Spec.Taints = slices.DeleteFunc(tidied.Spec.Taints, func(t corev1.Taint) bool {
		if t.Key == tenonv1alpha1.TaintToBeDeleted {
			tidied.Spec.Unschedulable = false // it cordons the nodes that it removes
			return true
		}
		return t.Key == tenonv1alpha1.TaintCandidate
	})
	if err := patch.IfUnchanged(ctx, w.kit, node, tidied); client.IgnoreNotFound(err) != nil && !reconcile.Overtaken(err) {
		return fmt.Errorf("remove the taints of Cluster Autoscaler from node %s: %w", node.Name, err)
	}
	w.kit.Events.Publish(telemetry.Normal(node, "ClusterAutoscalerCleanup", "Taints that a Cluster Autoscaler left on the node are removed, and the node takes pods again", string(node.UID)))
	return nil
}

// isLeftover reports whether a node has taints of a removal, or of a candidate for one, that Tenon has not put there.
func (w watcher) isLeftover(node *corev1.Node, o *tenonv1alpha1.NodeGroup) bool {
	disrupted := karpenterv1.TaintDisrupted()
	if node.Annotations[karpenterv1.AnnotationDisruption] != "" || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&disrupted) }) {
		return false
	}
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		switch t.Key {
		case tenonv1alpha1.TaintToBeDeleted:
			seconds, err := strconv.ParseInt(t.Value, 10, 64)
			return err != nil || w.kit.Clock.Since(time.Unix(seconds, 0)) >= abandonedAfter
		case tenonv1alpha1.TaintCandidate:
			return o.Spec.Mode != tenonv1alpha1.ModeCAS // where it says since when the node is unneeded
		}
		return false
	})
}
