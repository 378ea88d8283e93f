// Package status says how the conditions of claims, pools, nodes and other objects
// change, and how long their end takes, in metrics and events. It is the controllers
// `operatorpkg.<kind>.status`.
//
// It writes nothing. What it remembers is what it saw of each object last, to tell a change from a first
// look: a new process reports only changes that it saw.
package status

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	autoscalingv1 "tenon/api/autoscaling/v1"
	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/departure"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

// New makes the controllers of all kinds; none when their metrics are switched off.
func New(kit reconcile.Kit) []reconcile.Controller {
	if kit.Settings.DisableClusterStateObservability {
		return nil
	}
	description := kit.Cloud.Describe()
	supported := func(ref *karpenterv1.NodeClassReference) bool {
		return ref != nil && description.Supports(cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name})
	}
	kinds := []kind{
		{
			name: "nodeclaim", gvk: karpenterv1.GroupVersion.WithKind("NodeClaim"), metrics: kit.Metrics.Nodeclaim, older: true,
			object: &karpenterv1.NodeClaim{}, list: func() client.ObjectList { return &karpenterv1.NodeClaimList{} },
			conditions: func(o client.Object) []metav1.Condition { return o.(*karpenterv1.NodeClaim).Status.Conditions },
			ours:       func(o client.Object) bool { return supported(o.(*karpenterv1.NodeClaim).Spec.NodeClassRef) },
		},
		{
			name: "nodepool", gvk: karpenterv1.GroupVersion.WithKind("NodePool"), metrics: kit.Metrics.Nodepool, older: true,
			object: &karpenterv1.NodePool{}, list: func() client.ObjectList { return &karpenterv1.NodePoolList{} },
			conditions: func(o client.Object) []metav1.Condition { return o.(*karpenterv1.NodePool).Status.Conditions },
			ours: func(o client.Object) bool {
				return supported(o.(*karpenterv1.NodePool).Spec.Template.Spec.NodeClassRef)
			},
		},
		{
			name: "node", gvk: corev1.SchemeGroupVersion.WithKind("Node"), metrics: kit.Metrics.Node,
			object: &corev1.Node{}, list: func() client.ObjectList { return &corev1.NodeList{} },
			conditions: nodeConditions,
			ours:       func(o client.Object) bool { return departure.Managed(description, o.(*corev1.Node)) },
		},
	}
	if kit.Settings.FeatureGates.CapacityBuffer {
		kinds = append(kinds, kind{
			name: "capacitybuffer", gvk: autoscalingv1beta1.GroupVersion.WithKind("CapacityBuffer"), metrics: kit.Metrics.Capacitybuffer, older: true,
			object: &autoscalingv1beta1.CapacityBuffer{}, list: func() client.ObjectList { return &autoscalingv1beta1.CapacityBufferList{} },
			conditions: func(o client.Object) []metav1.Condition {
				return o.(*autoscalingv1beta1.CapacityBuffer).Status.Conditions
			},
			ours: func(client.Object) bool { return true },
		})
	}
	if kit.Settings.ProvisioningRequests.Enabled {
		kinds = append(kinds, kind{
			name: "provisioningrequest", gvk: autoscalingv1.GroupVersion.WithKind("ProvisioningRequest"), metrics: kit.Metrics.Provisioningrequest, older: true,
			object: &autoscalingv1.ProvisioningRequest{}, list: func() client.ObjectList { return &autoscalingv1.ProvisioningRequestList{} },
			conditions: func(o client.Object) []metav1.Condition {
				return o.(*autoscalingv1.ProvisioningRequest).Status.Conditions
			},
			ours: func(o client.Object) bool {
				return o.(*autoscalingv1.ProvisioningRequest).Served(kit.Settings.ProvisioningRequests.Instance)
			},
		})
	}
	out := make([]reconcile.Controller, len(kinds))
	for i, k := range kinds {
		out[i] = k.controller(kit)
	}
	return out
}

// NewClass makes the controller for node classes, whose kind only the provider knows.
func NewClass(kit reconcile.Kit, class cloud.ClassKind, object client.Object, list func() client.ObjectList,
	conditions func(client.Object) []metav1.Condition,
) reconcile.Controller {
	return kind{
		name: strings.ToLower(class.Kind), gvk: schema.GroupVersionKind{Group: class.Group, Version: class.Version, Kind: class.Kind},
		metrics: kit.Metrics.Nodeclass, older: true, object: object, list: list, conditions: conditions,
		ours: func(client.Object) bool { return true },
	}.controller(kit)
}

func nodeConditions(o client.Object) []metav1.Condition {
	var out []metav1.Condition
	for _, c := range o.(*corev1.Node).Status.Conditions {
		out = append(out, metav1.Condition{
			Type: string(c.Type), Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Message: c.Message, LastTransitionTime: c.LastTransitionTime,
		})
	}
	return out
}

// kind is what there is to know of one.
type kind struct {
	name       string
	gvk        schema.GroupVersionKind
	object     client.Object
	list       func() client.ObjectList
	conditions func(client.Object) []metav1.Condition
	// ours leaves out the objects of another cloud's controller in the same cluster.
	ours    func(client.Object) bool
	metrics telemetry.Conditions
	// older says that the kind has metrics under the names of before, too.
	older bool
}

const (
	// refreshEvery is how old the gauges get in a small cluster.
	refreshEvery = 10 * time.Second
	// few is how many objects those have, and scrape how old the gauges get in a large one.
	few    = 100
	scrape = 30 * time.Second
)

func (k kind) controller(kit reconcile.Kit) reconcile.Controller {
	targets := targetsOf(kit, k)
	w := &watcher{kit: kit, kind: k, targets: targets, seen: map[reconcile.Key]observation{}, gauges: newGauges(kit, k, targets)}
	return reconcile.Controller{
		Name:    "operatorpkg." + k.name + ".status",
		Workers: reconcile.Workers{Min: 10, Max: 10},
		Watches: []reconcile.Watch{{Kind: k.object, Keys: withGauges, Matters: k.matters}},
		Reconcile: func(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
			if key == (reconcile.Key{}) {
				return w.refresh(ctx)
			}
			return reconcile.Never, w.look(ctx, key)
		},
	}
}

// matters leaves out changes without a report: nodes repeat their status every few minutes, and a pool's
// counts change with every node.
func (k kind) matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return true
	}
	return old.GetUID() != changed.GetUID() || (old.GetDeletionTimestamp() == nil) != (changed.GetDeletionTimestamp() == nil) ||
		!slices.Equal(old.GetFinalizers(), changed.GetFinalizers()) || !maps.Equal(old.GetLabels(), changed.GetLabels()) ||
		!slices.Equal(k.conditions(old), k.conditions(changed))
}

// withGauges adds the empty key for the gauges of all objects: they are updated together, because
// with many objects they have only counts.
func withGauges(_ context.Context, o client.Object) []reconcile.Key {
	return []reconcile.Key{client.ObjectKeyFromObject(o), {}}
}

// watcher is the controller of one kind.
type watcher struct {
	kit  reconcile.Kit
	kind kind

	mu   sync.Mutex
	seen map[reconcile.Key]observation

	targets []target
	gauges  *gauges
}

// look compares an object with what it was, and tells the difference.
func (w *watcher) look(ctx context.Context, key reconcile.Key) error {
	object := w.kind.object.DeepCopyObject().(client.Object)
	err := w.kit.Client.Get(ctx, key, object)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get %s %s: %w", w.kind.name, key.Name, err)
	}
	now := observation{}
	if err == nil && w.kind.ours(object) {
		now = w.kind.look(object)
	}
	before := w.remember(key, now)
	if before.object == nil {
		return nil
	}
	if now.object != nil && now.object.UID != before.object.UID {
		// Another object took the name: the one before is gone.
		w.tell(before.gone(), before)
		return nil
	}
	if now.object == nil {
		now = before.gone()
	}
	w.tell(now, before)
	return nil
}

func (w *watcher) remember(key reconcile.Key, now observation) observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.seen[key]
	if now.object == nil {
		delete(w.seen, key)
	} else {
		w.seen[key] = now
	}
	return before
}

func (w *watcher) tell(now, before observation) {
	w.kit.Events.Publish(events(now, before)...)
	for _, c := range changes(now, before) {
		w.count(now.object, c)
	}
	if deleted := before.object.DeletionTimestamp; now.isGone && deleted != nil {
		took := w.kit.Clock.Since(deleted.Time).Seconds()
		for _, t := range w.targets {
			t.metrics.TerminationDurationSeconds.WithLabelValues(t.tail(now.object)...).Observe(took)
		}
	}
}

func (w *watcher) count(object client.Object, c change) {
	for _, t := range w.targets {
		total := append([]string{c.now.Type, string(c.now.Status), c.now.Reason}, t.tail(object)...)
		t.metrics.StatusConditionTransitionsTotal.WithLabelValues(total...).Inc()
		if c.before != nil {
			spent := c.now.LastTransitionTime.Sub(c.before.LastTransitionTime.Time).Seconds()
			values := append([]string{c.now.Type, string(c.now.Status)}, t.tail(object)...)
			t.metrics.StatusConditionTransitionSeconds.WithLabelValues(values...).Observe(spent)
		}
	}
}

// target is a family of metrics, with the values of the labels that it ends in.
type target struct {
	metrics telemetry.Conditions
	tail    func(client.Object) []string
}

// targetsOf are the kind's own metrics, and those under the older names when nothing bounds how
// many there are.
func targetsOf(kit reconcile.Kit, k kind) []target {
	out := []target{{k.metrics, func(o client.Object) []string {
		values := make([]string, len(k.metrics.LabelKeys))
		for i, key := range k.metrics.LabelKeys {
			values[i] = o.GetLabels()[key]
		}
		return values
	}}}
	if k.older && kit.Settings.MetricsSeries == 0 {
		out = append(out, target{kit.Metrics.Operator, func(client.Object) []string { return []string{k.gvk.Group, k.gvk.Kind} }})
	}
	return out
}
