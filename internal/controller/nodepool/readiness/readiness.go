// Package readiness says on every pool whether its node class can be used: the condition
// NodeClassReady, one of the two that make a pool ready.
package readiness

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
)

type readiness struct {
	kit     reconcile.Kit
	about   cloud.Description
	classes class.Reader
}

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	r := readiness{kit, kit.Cloud.Describe(), class.From(kit)}
	return reconcile.Controller{
		Name: "nodepool.readiness",
		Watches: append([]reconcile.Watch{{Kind: &karpenterv1.NodePool{}, Matters: matters}},
			r.classes.Watches(class.Pools(kit))...),
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Reconcile: r.reconcile,
	}
}

// matters: pools change all the time, because their nodes are counted.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	return old.GetGeneration() != changed.GetGeneration() ||
		judged(old.(*karpenterv1.NodePool)) != judged(changed.(*karpenterv1.NodePool))
}

// judged is the condition that is written here, or nothing.
func judged(pool *karpenterv1.NodePool) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(pool.Status.Conditions, karpenterv1.ConditionNodeClassReady), metav1.Condition{})
}

func (r readiness) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	pool := &karpenterv1.NodePool{}
	if err := r.kit.Client.Get(ctx, key, pool); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	ref := class.Of(pool)
	if !r.about.Supports(ref) {
		return reconcile.Never, nil
	}
	found, err := r.classes.Find(ctx, ref)
	if err != nil {
		return reconcile.Never, err
	}
	told := pool.DeepCopy()
	conditions := told.Conditions(r.kit.Clock.Now())
	was, _ := conditions.Get(karpenterv1.ConditionNodeClassReady)
	missing := ""
	if !found.Found {
		if missing, err = r.classes.Missing(ctx, ref); err != nil {
			return reconcile.Never, err
		}
	}
	tell(&conditions, found, missing)
	told.Status.Conditions = conditions.List()
	again, err := patch.Status(ctx, r.kit, pool, told)
	if is, _ := conditions.Get(karpenterv1.ConditionNodeClassReady); err == nil && again == reconcile.Never && is.Reason != was.Reason && (!found.Found || found.Deleting) {
		r.kit.Events.Publish(telemetry.Warning(pool, is.Reason, fmt.Sprintf("Failed resolving NodeClass %s: %s", ref.Name, is.Message)))
	}
	return again, err
}

const notFound = "NodeClass not found on cluster: "

// tell says what a class means for its pools; missing is the text if there is no class.
func tell(s *condition.Set, c class.Class, missing string) {
	const name = karpenterv1.ConditionNodeClassReady
	switch {
	case !c.Found:
		s.SetFalse(name, karpenterv1.ReasonNodeClassNotFound, notFound+missing)
	case c.Deleting:
		s.SetFalse(name, "NodeClassTerminating", "NodeClass is Terminating")
	case c.Ready.Status == metav1.ConditionTrue:
		s.SetTrue(name)
	case c.Ready.Status == metav1.ConditionFalse:
		s.SetFalse(name, reasonOf(c.Ready), c.Ready.Message)
	default: // Unknown, or not yet judged
		s.SetFalse(name, karpenterv1.ReasonNodeClassUnknown, "Node Class Readiness Unknown")
	}
}

// reasonOf is the class's own. A pool's condition needs one, and another cloud's kind may
// leave it out.
func reasonOf(c metav1.Condition) string {
	if c.Reason == "" {
		return "NodeClassNotReady"
	}
	return c.Reason
}
