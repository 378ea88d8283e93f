// Package nodegroup shows every group of instances that the cloud keeps at a size as a NodeGroup: its size, its
// instances and their nodes, the properties and price of its next node, and its problems, each with a remedy.
// For groups that may be changed it annotates each node with its group, lowers sizes for which the cloud has no instances,
// and ends instances that do not become nodes.
//
// It must not make a group grow.
package nodegroup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/order"
	"tenon/internal/lookup"
	"tenon/internal/nodegroup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// period is how often groups are looked at; soon applies while instances come or go. The provider asks the cloud less often.
const (
	period = 30 * time.Second
	soon   = 10 * time.Second
)

// labelMade is on objects that this controller made; it deletes them when their group is gone.
const (
	labelMade = "app.kubernetes.io/managed-by"
	maker     = "tenon"
)

type watcher struct {
	kit    reconcile.Kit
	groups cloud.GroupReader
	looked map[string]bool // the groups that this process has looked at, by UID of their objects
}

// New makes the controller.
func New(kit reconcile.Kit, groups cloud.GroupReader) reconcile.Controller {
	w := watcher{kit, groups, map[string]bool{}}
	return reconcile.Controller{Name: "nodegroup", Workers: reconcile.One, Reconcile: w.reconcile}
}

// seen is what one look found.
type seen struct {
	groups  []cloud.Group
	err     error // why the cloud did not say which groups exist
	foreign foreign
	ranks   priorities
	objects map[string]*tenonv1alpha1.NodeGroup
	nodes   map[string]*corev1.Node // by provider ID
	// strangers are nodes without a provider ID, and those with the provider ID of a node that registered before.
	strangers []*corev1.Node
}

func (w watcher) reconcile(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
	// 1. Gather: groups, objects and nodes.
	s, err := w.look(ctx)
	if err != nil {
		return reconcile.Never, err
	}
	// 2. Without an answer of the cloud, say so on the existing objects, and on those of named groups.
	if s.err != nil {
		return w.tellUnread(ctx, &s)
	}
	// 3. Show each group. An error about one object does not affect the others.
	again, wrong := reconcile.In(period), []error(nil)
	shown := make([]*tenonv1alpha1.NodeGroup, len(s.groups))
	for i := range s.groups {
		g := &s.groups[i]
		var told *tenonv1alpha1.NodeGroup
		result, err := w.write(ctx, &s, g.Name, func(o *tenonv1alpha1.NodeGroup) {
			w.tellForeign(o, g)
			tell(o, g, members{s.nodes, &w.kit.Settings.GroupTaints}, &s.ranks, w.kit.Clock.Now())
			w.tellUpkeep(o, g, s.nodes, w.kit.Clock.Now())
			w.tellHealth(o, g, s.nodes, w.kit.Clock.Now())
			tellActive(o, &s.foreign, w.kit.Clock.Now())
			tellPriority(o, &s.ranks)
			tellHandover(o, g, s.nodes, w.kit.Clock.Now())
			if settling(o) {
				again = again.Sooner(reconcile.In(soon))
			}
			told, shown[i] = o, o
		})
		if err == nil && result == reconcile.Never { // the rest depends on the object's new status
			err = w.maintain(ctx, told, g)
		}
		again, wrong = again.Sooner(result), append(wrong, err)
	}
	// 4. Annotate nodes with their groups, delete objects whose groups are gone, and publish what Cluster Autoscaler would.
	return again, errors.Join(append(wrong, w.mark(ctx, &s), w.collect(ctx, &s), w.publish(ctx, &s, shown))...)
}

func (w watcher) look(ctx context.Context) (seen, error) {
	s := seen{objects: map[string]*tenonv1alpha1.NodeGroup{}, nodes: map[string]*corev1.Node{}}
	var objects tenonv1alpha1.NodeGroupList
	if err := w.kit.Client.List(ctx, &objects); err != nil {
		return s, fmt.Errorf("list node groups: %w", err)
	}
	for i := range objects.Items {
		s.objects[objects.Items[i].Name] = &objects.Items[i]
	}
	var nodes corev1.NodeList
	if err := w.kit.Client.List(ctx, &nodes); err != nil {
		return s, fmt.Errorf("list nodes: %w", err)
	}
	slices.SortFunc(nodes.Items, func(a, b corev1.Node) int { return lookup.ByAge(&a, &b) })
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if id := node.Spec.ProviderID; id == "" || s.nodes[id] != nil {
			s.strangers = append(s.strangers, node)
		} else {
			s.nodes[id] = node
		}
	}
	s.foreign, s.ranks = w.lookForeign(ctx), w.lookPriorities(ctx, &s)
	s.groups, s.err = w.groups.Groups(ctx)
	return s, nil
}

// write creates the object of a group if it does not exist, and updates its status.
func (w watcher) write(ctx context.Context, s *seen, group string, change func(*tenonv1alpha1.NodeGroup)) (reconcile.Result, error) {
	object, found := s.objects[tenonv1alpha1.ObjectName(group)]
	if !found || object.Spec.GroupName != group {
		object, found = s.objectOf(group)
	}
	if !found {
		object = &tenonv1alpha1.NodeGroup{
			ObjectMeta: metav1.ObjectMeta{Name: tenonv1alpha1.ObjectName(group), Labels: map[string]string{labelMade: maker}},
			Spec:       tenonv1alpha1.NodeGroupSpec{GroupName: group, Mode: tenonv1alpha1.ModeObserve},
		}
		if err := w.kit.Client.Create(ctx, object); apierrors.IsAlreadyExists(err) {
			return reconcile.In(period), nil // the cached list was out of date
		} else if err != nil {
			return reconcile.Never, fmt.Errorf("make node group %s: %w", object.Name, err)
		}
	}
	if object.DeletionTimestamp != nil {
		return reconcile.Never, nil
	}
	told := object.DeepCopy()
	change(told)
	return patch.Status(ctx, w.kit, object, told)
}

// objectOf finds the object of a group under another name.
func (s *seen) objectOf(group string) (*tenonv1alpha1.NodeGroup, bool) {
	for _, name := range order.Keys(s.objects) {
		if o := s.objects[name]; o.Spec.GroupName == group {
			return o, true
		}
	}
	return nil, false
}

// tellUnread says on every object that the cloud did not answer. Sizes and instances stay as they were last seen.
func (w watcher) tellUnread(ctx context.Context, s *seen) (reconcile.Result, error) {
	reconcile.Log(ctx).Error(s.err, "could not read the node groups")
	names, counted := w.groups.Named(), false
	for _, o := range s.objects {
		if !counted && o.Spec.Mode == tenonv1alpha1.ModeCAS {
			counted = true // one call was about all groups
			nodegroup.Failed(w.kit, o)
		}
		names = append(names, o.Spec.GroupName)
	}
	slices.Sort(names)
	again, wrong := reconcile.In(period), []error(nil)
	for _, name := range slices.Compact(names) {
		result, err := w.write(ctx, s, name, func(o *tenonv1alpha1.NodeGroup) {
			tellUnread(o, s.err, w.kit.Clock.Now())
			tellActive(o, &s.foreign, w.kit.Clock.Now())
		})
		again, wrong = again.Sooner(result), append(wrong, err)
	}
	return again, errors.Join(wrong...)
}

// collect deletes objects that this controller made and whose groups are gone; on other objects it sets a condition.
func (w watcher) collect(ctx context.Context, s *seen) error {
	known := map[string]bool{}
	for i := range s.groups {
		known[s.groups[i].Name] = true
	}
	var wrong []error
	for _, o := range s.objects {
		switch {
		case known[o.Spec.GroupName] || o.DeletionTimestamp != nil:
		case o.Labels[labelMade] == maker:
			wrong = append(wrong, patch.Delete(ctx, w.kit, o))
		default:
			told := o.DeepCopy()
			tellMissing(told, "the group is neither named by --nodes nor discovered", "name the group, or tag it as --node-group-auto-discovery asks", w.kit.Clock.Now())
			_, err := patch.Status(ctx, w.kit, o, told)
			wrong = append(wrong, err)
		}
	}
	return errors.Join(wrong...)
}
