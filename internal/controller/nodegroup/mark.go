package nodegroup

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/order"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/ingest"
	"tenon/internal/nodegroup"
	"tenon/internal/patch"
)

// mark annotates the nodes of groups that may be changed with the name of their group, taints those of groups that are handed over, and
// removes annotation and taint from all others.
func (w watcher) mark(ctx context.Context, s *seen) error {
	members := map[string]*tenonv1alpha1.NodeGroup{} // by provider ID
	for i := range s.groups {
		g := &s.groups[i]
		if o, found := s.objectOf(g.Name); found && !o.Observed() {
			for _, instance := range g.Instances {
				members[instance.ProviderID] = o
			}
		}
	}
	var wrong []error
	for _, id := range order.Keys(s.nodes) {
		wrong = append(wrong, w.markNode(ctx, s.nodes[id], members[id]))
	}
	for _, node := range s.strangers {
		wrong = append(wrong, w.markNode(ctx, node, nil))
	}
	return errors.Join(wrong...)
}

// markNode does so for one node; o is nil if it is in no group that may be changed.
func (w watcher) markNode(ctx context.Context, node *corev1.Node, o *tenonv1alpha1.NodeGroup) error {
	if node.DeletionTimestamp != nil && node.Annotations[tenonv1alpha1.AnnotationGroup] != "" {
		return nil // it is leaving, and the code that ends its instance needs the group
	}
	var untidy error
	group, joined, handedOver := "", "", false
	if o != nil {
		if group = o.Name; w.joined(node, o) {
			joined = "true"
		}
		handedOver = o.Spec.Mode == tenonv1alpha1.ModeHandover
		untidy = w.tidy(ctx, node, o)
	}
	node, err := w.taint(ctx, node, handedOver)
	wrong := errors.Join(untidy, err)
	if node.Annotations[tenonv1alpha1.AnnotationGroup] == group && node.Annotations[tenonv1alpha1.AnnotationJoined] == joined {
		return wrong
	}
	marked := node.DeepCopy()
	annotate(marked, tenonv1alpha1.AnnotationGroup, group)
	annotate(marked, tenonv1alpha1.AnnotationJoined, joined)
	write := patch.Merge
	if group == "" {
		write = patch.IfUnchanged // it may be leaving by now; then it keeps the group, as the next look finds
	}
	if err := write(ctx, w.kit, node, marked); err != nil && !patch.Outdated(err) {
		wrong = errors.Join(wrong, fmt.Errorf("write the group on node %s: %w", node.Name, err))
	}
	return wrong
}

// inService reports whether a node is Ready and has no startup taint.
func inService(node *corev1.Node, taints *clusterautoscaler.Taints) bool {
	return ingest.IsReady(node) && !ingest.Starts(node, taints)
}

// joined nodes have been Ready without a startup taint, or have had enough time to become Ready. Until then their taints are those of their start.
func (w watcher) joined(node *corev1.Node, o *tenonv1alpha1.NodeGroup) bool {
	return node.Annotations[tenonv1alpha1.AnnotationJoined] == "true" || inService(node, &w.kit.Settings.GroupTaints) || w.kit.Clock.Since(node.CreationTimestamp.Time) >= o.Starts(cmp.Or(w.kit.Settings.MaxNodeStartupTime, usualTime))
}

// annotate sets an annotation, or removes it if the value is empty.
func annotate(node *corev1.Node, key, value string) {
	if value == "" {
		delete(node.Annotations, key)
		return
	}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[key] = value
}

// settling groups do not have the desired number of instances, have instances without a Ready node, or are handed over.
func settling(o *tenonv1alpha1.NodeGroup) bool {
	size, i := o.Status.Size, o.Status.Instances
	return size != nil && i != nil && (size.Desired != i.Ready || o.Spec.Mode == tenonv1alpha1.ModeHandover && i.Total > 0)
}

// tellForeign publishes that another program or a person changed the size of a group that Tenon may change. The object has the sizes
// that Tenon itself sets at once, so any other size is foreign. Only at its first look at a group a process cannot tell: the one before
// it may have ended between writing a size on the object and setting it, or after setting it.
func (w watcher) tellForeign(o *tenonv1alpha1.NodeGroup, g *cloud.Group) {
	first := !w.looked[string(o.UID)]
	w.looked[string(o.UID)] = true
	if o.Observed() || o.Status.Size == nil || g.Missing || o.Status.Size.Desired == g.Desired {
		return
	}
	nodegroup.TellForeign(w.kit, o, o.Status.Size.Desired, g.Desired, !first)
}
