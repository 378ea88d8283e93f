package termination

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/internal/command"
	"tenon/internal/departure"
	"tenon/internal/ingest"
	"tenon/internal/lookup"
	"tenon/internal/nodegroup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// eventScaleDownFailed is Cluster Autoscaler's.
const eventScaleDownFailed = "ScaleDownFailed"

// listedWithin is how long a group may take to list a new instance: what is known of groups is up to a minute old.
const listedWithin = 2 * time.Minute

// memberGone reports whether a group no longer has the instance of a node that is not ready. A group that is not known says
// nothing.
func (c *controller) memberGone(ctx context.Context, node *corev1.Node) (bool, error) {
	if c.Groups == nil || c.Clock.Now().Before(node.CreationTimestamp.Add(listedWithin)) {
		return false, nil
	}
	object, err := c.groupOf(ctx, node)
	if err != nil || object == nil {
		return false, err
	}
	group, err := c.listed(ctx, object.Spec.GroupName)
	return group != nil && group.Find(node.Spec.ProviderID) == nil, err
}

// listed is a group as it was seen last; nil if it is not known any more.
func (c *controller) listed(ctx context.Context, name string) (*cloud.Group, error) {
	groups, err := c.Groups.Groups(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at node group %s: %w", name, err)
	}
	for i := range groups {
		if groups[i].Name == name {
			return &groups[i], nil
		}
	}
	return nil, nil
}

// groupOf reads the NodeGroup of a node; nil if there is none.
func (c *controller) groupOf(ctx context.Context, node *corev1.Node) (*tenonv1alpha1.NodeGroup, error) {
	object := &tenonv1alpha1.NodeGroup{}
	err := c.Client.Get(ctx, client.ObjectKey{Name: departure.Group(node)}, object)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get node group %s: %w", departure.Group(node), err)
	}
	if err != nil {
		return nil, nil
	}
	return object, nil
}

// endMember ends the instance of a group's node, unless the cloud takes it. The group gets smaller by it unless it is as small as it may be; then the
// cloud replaces the instance. First it is written on the node that this was done, since the desired size does not
// include the instance any more; until then the call is made again, which does no harm.
func (c *controller) endMember(ctx context.Context, p *pass) (progress, error) {
	object, err := c.groupOf(ctx, p.Node)
	if err != nil {
		return progress{}, err
	}
	if c.Groups == nil || object == nil { // nothing may be done to the group any more
		return finished, nil
	}
	if first, err := lookup.IsFirst(ctx, c.Client, p.Node); err != nil || !first { // the instance is another node's
		return progress{done: err == nil}, err
	}
	ended, taken := p.Node.Annotations[tenonv1alpha1.AnnotationEnded] != "", c.Clock.Now().Before(p.Ends.Add(listedWithin))
	if group, err := c.listed(ctx, object.Spec.GroupName); err != nil || (ended || taken) && group != nil {
		return progress{done: err == nil && goes(group.Find(p.Node.Spec.ProviderID), taken), again: instanceAgain}, err
	}
	if delay, err := c.delayed(ctx, p, object); err != nil || delay > 0 {
		return waitFor(delay), err
	}
	desired, err := c.Groups.End(ctx, object.Spec.GroupName, p.Node.Spec.ProviderID)
	if throttled, is := errors.AsType[*cloud.Throttled](err); is {
		return waitFor(max(throttled.RetryAfter, instanceAgain)), nil
	}
	switch {
	case cloud.IsNotFound(err):
		return finished, nil
	case err != nil:
		nodegroup.Failed(c.Kit, object)
		nodegroup.TellNode(c.Kit, object, p.Node, telemetry.Warning(nil, eventScaleDownFailed, err.Error(), p.Node.Name))
		err = fmt.Errorf("delete the instance of node %s: %w", p.Node.Name, err)
		return progress{}, errors.Join(err, nodegroup.Refused(ctx, c.Kit, object))
	}
	told := p.Node.DeepCopy()
	told.Annotations[tenonv1alpha1.AnnotationEnded] = c.Clock.Now().UTC().Format(time.RFC3339)
	c.tellEnded(told)
	if err := patch.Merge(ctx, c.Kit, p.Node, told); client.IgnoreNotFound(err) != nil {
		return progress{}, fmt.Errorf("write on node %s that its instance was ended: %w", p.Node.Name, err)
	}
	c.tellEnded(told)
	if object.Spec.Mode == tenonv1alpha1.ModeCAS {
		c.Metrics.ClusterAutoscalerScaledDownNodesTotal.WithLabelValues(scaledDown(p.Node), "", "", "").Inc()
	}
	reconcile.Log(ctx).Info("ended the instance of a node group", "NodeGroup", object.Name, "provider-id", p.Node.Spec.ProviderID, "desired", desired)
	shown, err := nodegroup.Show(ctx, c.Kit, object, desired, nodegroup.Shrunk)
	if err == nil && c.o.Shown != nil {
		c.o.Shown(shown)
	}
	return waitFor(instanceAgain), client.IgnoreNotFound(err)
}

// goes reports whether the node may go with its instance, which is nil once it is gone. The group replaces an instance that the cloud takes, but not
// before it ends: without the node, decisions would already count on the instance to come, and pods would wait for it.
func goes(i *cloud.GroupInstance, taken bool) bool {
	return i == nil || taken && i.State == cloud.Terminating
}

func (c *controller) tellEnded(node *corev1.Node) {
	if c.o.Ended != nil {
		c.o.Ended(node.DeepCopy())
	}
}

// delayed is for how long annotations of other programs, such as one that detaches volumes, still keep the instance of a drained
// node; they do not for longer than the settings allow. Since when is written on the node.
func (c *controller) delayed(ctx context.Context, p *pass, g *tenonv1alpha1.NodeGroup) (time.Duration, error) {
	if g.Spec.Mode != tenonv1alpha1.ModeCAS || !departure.Delayed(p.Node) {
		return 0, nil
	}
	now := c.Clock.Now()
	since, err := time.Parse(time.RFC3339, p.Node.Annotations[tenonv1alpha1.AnnotationDelayed])
	if err != nil { // it is not there yet
		since = now
		told := p.Node.DeepCopy()
		told.Annotations[tenonv1alpha1.AnnotationDelayed] = now.UTC().Format(time.RFC3339)
		if err := patch.Merge(ctx, c.Kit, p.Node, told); client.IgnoreNotFound(err) != nil {
			return 0, fmt.Errorf("write on node %s that annotations keep its instance: %w", p.Node.Name, err)
		}
		reconcile.Log(ctx).Info("the node's annotations keep its instance", "Node", p.Node.Name, "longest", c.Settings.GroupDrain.DeletionDelay.String())
	}
	left := since.Add(c.Settings.GroupDrain.DeletionDelay).Sub(now)
	return max(min(left, instanceAgain), 0), nil
}

// scaledDown is why a node went, as Cluster Autoscaler has it.
func scaledDown(node *corev1.Node) string {
	record, found := command.Of(node)
	switch {
	case !ingest.IsReady(node):
		return "unready"
	case found && record.Evictions == 0:
		return "empty"
	}
	return "underutilized"
}
