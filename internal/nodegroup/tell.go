package nodegroup

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// Tell publishes an event on a group and, if the group is in mode cas, on the ConfigMap where tools for Cluster Autoscaler look for
// it.
func Tell(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, e telemetry.Event) {
	e.Object = g
	kit.Events.Publish(e)
	TellStatus(ctx, kit, g, e)
}

// TellForeign publishes that another program or a person changed the size of a group that Tenon may change. If that is not certain, an earlier
// process may have.
func TellForeign(kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, was, is int64, certain bool) {
	by := "it was changed elsewhere"
	if !certain {
		by += ", or Tenon stopped while it changed the size"
	}
	text := fmt.Sprintf("The desired size was %d and is %d now: %s, and is kept", was, is, by)
	kit.Events.Publish(telemetry.Normal(g, "SizeChanged", text, string(g.UID), fmt.Sprint(is)))
}

// Failed counts an answer of the cloud about a group in mode cas that is an error.
func Failed(kit reconcile.Kit, g *tenonv1alpha1.NodeGroup) {
	if g.Spec.Mode == tenonv1alpha1.ModeCAS {
		kit.Metrics.ClusterAutoscalerErrorsTotal.WithLabelValues("cloudProviderError").Inc()
	}
}

// TellStatus publishes an event about a group in mode cas on that ConfigMap alone, if there is one.
func TellStatus(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, e telemetry.Event) {
	if g.Spec.Mode == tenonv1alpha1.ModeCAS {
		e.Message = "Node group " + g.Spec.GroupName + ": " + e.Message
		TellAll(ctx, kit, e)
	}
}

// TellAll publishes an event about all groups in mode cas on that ConfigMap, if there is one.
func TellAll(ctx context.Context, kit reconcile.Kit, e telemetry.Event) {
	if !kit.Settings.WriteStatusConfigMap {
		return
	}
	stored := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: clusterautoscaler.Namespace, Name: clusterautoscaler.StatusConfigMap}}
	if err := kit.Uncached(reconcile.Unwatched).Get(ctx, client.ObjectKeyFromObject(stored), stored); err != nil {
		return // the event is on the group or the node; without the ConfigMap no tool looks for it
	}
	e.Object = stored
	kit.Events.Publish(e)
}

// Reasons of events about nodes that are removed, with Cluster Autoscaler's names.
const (
	eventScaleDown      = "ScaleDown"
	eventScaleDownEmpty = "ScaleDownEmpty"
)

// TellNode publishes an event on a node of a group in mode cas.
func TellNode(kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, node *corev1.Node, e telemetry.Event) {
	if g.Spec.Mode != tenonv1alpha1.ModeCAS {
		return
	}
	e.Object = node
	kit.Events.Publish(e)
}

// TellScaleDown says on a node of a group in mode cas, and on the ConfigMap, that the node is being
// removed.
func TellScaleDown(ctx context.Context, kit reconcile.Kit, g *tenonv1alpha1.NodeGroup, node *corev1.Node, empty bool) {
	TellNode(kit, g, node, telemetry.Normal(nil, eventScaleDown, "The node is drained and removed: nothing needs it", string(node.UID)))
	why := eventScaleDown
	if empty {
		why = eventScaleDownEmpty
	}
	TellStatus(ctx, kit, g, telemetry.Normal(nil, why, "Node "+node.Name+" is removed: nothing needs it", string(node.UID)))
}
