// Package intervention writes to the journal what users changed by hand: an object says so in an annotation, which `tenon
// view` writes together with the change.
//
// The package must not write to objects.
package intervention

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/intervention"
	"tenon/internal/journal"
	"tenon/internal/reconcile"
)

// kinds are those of the objects that can be changed, by their name in the journal.
var kinds = map[string]func() client.Object{
	"node":      func() client.Object { return &corev1.Node{} },
	"nodeclaim": func() client.Object { return &karpenterv1.NodeClaim{} },
	"nodepool":  func() client.Object { return &karpenterv1.NodePool{} },
	"nodegroup": func() client.Object { return &tenonv1alpha1.NodeGroup{} },
}

// New makes the controller. Without a journal there is none.
func New(kit reconcile.Kit, to *journal.Journal) []reconcile.Controller {
	if to == nil {
		return nil
	}
	r := recorder{kit, to}
	watches := []reconcile.Watch{watch("node"), watch("nodeclaim"), watch("nodepool")}
	if kit.Settings.FeatureGates.NodeGroups && !kit.Settings.Shadow() {
		watches = append(watches, watch("nodegroup"))
	}
	return []reconcile.Controller{{Name: "intervention", Workers: reconcile.One, Watches: watches, Reconcile: r.reconcile}}
}

func watch(kind string) reconcile.Watch {
	return reconcile.Watch{Kind: kinds[kind](), Matters: matters, Keys: func(_ context.Context, o client.Object) []reconcile.Key {
		return []reconcile.Key{{Namespace: kind, Name: o.GetName()}}
	}}
}

// matters: there is a record, and it is another than before.
func matters(old, changed client.Object) bool {
	if changed == nil {
		return false
	}
	now := changed.GetAnnotations()[karpenterv1.AnnotationChangedByHand]
	return now != "" && (old == nil || old.GetAnnotations()[karpenterv1.AnnotationChangedByHand] != now)
}

type recorder struct {
	kit reconcile.Kit
	to  *journal.Journal
}

// reconcile records the last change of an object. The key's namespace is its kind, because these objects have none.
func (r recorder) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	empty, known := kinds[key.Namespace]
	if !known {
		return reconcile.Never, nil
	}
	object := empty()
	if err := r.kit.Client.Get(ctx, client.ObjectKey{Name: key.Name}, object); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if found, ok := intervention.RecordOf(object); ok {
		r.to.Intervened(journal.Intervention{At: found.At, By: found.By, Verb: string(found.Verb), Kind: key.Namespace, Name: key.Name})
	}
	return reconcile.Never, nil
}
