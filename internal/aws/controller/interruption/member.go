package interruption

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/aws/instance"
	"tenon/cloud/aws/instanceevents"
	"tenon/internal/departure"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/removal"
	"tenon/internal/telemetry"
)

// groupKnown is how long after its creation a node of a group has surely been annotated with it: groups are described every 30 seconds.
const groupKnown = 2 * time.Minute

// membersByInstance finds, by the ID of the instance, the nodes of node groups that Tenon may change, and nodes so young that they may be
// annotated with a group yet.
func membersByInstance(ctx context.Context, kit reconcile.Kit) (map[string]*corev1.Node, error) {
	if !kit.Settings.FeatureGates.NodeGroups {
		return nil, nil
	}
	var list corev1.NodeList
	if err := kit.Client.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	first := map[string]*corev1.Node{} // of the nodes of an instance
	for i := range list.Items {
		node := &list.Items[i]
		if _, id, ok := instance.Parse(node.Spec.ProviderID); ok && (first[id] == nil || lookup.ByAge(node, first[id]) < 0) {
			first[id] = node
		}
	}
	maps.DeleteFunc(first, func(_ string, node *corev1.Node) bool {
		return departure.Group(node) == "" && kit.Clock.Since(node.CreationTimestamp.Time) >= groupKnown
	})
	return first, nil
}

// actOnMember does for the node of a group what a notice asks for: the node is drained ahead of the end of its instance, which
// the group then replaces. An instance that ends already has been chosen by the group itself, or by Tenon. As long as it is not known
// whose the node is, the notice is early: it is to come again.
func (c controller) actOnMember(ctx context.Context, n instanceevents.Notice, node *corev1.Node) (early bool, err error) {
	if n.Kind == instanceevents.InstanceStopped || n.Kind == instanceevents.InstanceTerminated {
		return false, nil
	}
	if departure.Group(node) == "" {
		return true, nil
	}
	group := &tenonv1alpha1.NodeGroup{}
	if err := c.kit.Client.Get(ctx, client.ObjectKey{Name: departure.Group(node)}, group); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	if group.Observed() || group.Foreign() {
		return false, nil
	}
	if !group.Free() {
		return true, nil
	}
	c.kit.Events.Publish(announce(n.Kind, node)...)
	if n.Kind == instanceevents.SpotInterrupted {
		c.shortages.SpotShort(node.Labels[corev1.LabelInstanceTypeStable], node.Labels[corev1.LabelTopologyZone])
	}
	if !ends(n.Kind) {
		return false, nil
	}
	return false, client.IgnoreNotFound(patch.Retry(ctx, c.kit, node, func(node *corev1.Node) error {
		if node.DeletionTimestamp != nil {
			return nil
		}
		dated, err := c.dateMember(ctx, n, node)
		if err != nil {
			return err
		}
		deleted, err := removal.DeleteNode(ctx, c.kit, dated, removal.Reason(n.Kind))
		if deleted {
			c.kit.Events.Publish(telemetry.Warning(dated, "TerminatingOnInterruption", "Interruption triggered termination for the Node"))
			reconcile.Log(ctx).Info("initiating delete from interruption message", "Node", dated.Name, "NodeGroup", group.Name, "reason", string(n.Kind))
		}
		return err
	}))
}

// dateMember writes on the node when AWS takes its instance, so that the size of its group is not lowered for it.
func (c controller) dateMember(ctx context.Context, n instanceevents.Notice, node *corev1.Node) (*corev1.Node, error) {
	if n.Kind != instanceevents.SpotInterrupted {
		return node, nil
	}
	at := n.Time
	if at.IsZero() {
		at = c.kit.Clock.Now()
	}
	dated := node.DeepCopy()
	metav1.SetMetaDataAnnotation(&dated.ObjectMeta, departure.AnnotationEnds, at.Add(spotWarning).UTC().Format(time.RFC3339))
	if err := patch.IfUnchanged(ctx, c.kit, node, dated); err != nil {
		return nil, fmt.Errorf("write on node %s when its instance ends: %w", node.Name, err)
	}
	return dated, nil
}
