// Package registrationhealth resets what is known of a pool's registrations whenever the pool or its node
// class has changed: the condition NodeRegistrationHealthy is then Unknown until nodes have joined, or have
// failed to. After a restart it does the reverse, and gives the tracker what the condition says.
//
// The condition is set True or False where registrations end, by nodeclaim.lifecycle.
package registrationhealth

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/internal/class"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
)

type health struct {
	kit     reconcile.Kit
	about   cloud.Description
	classes class.Reader
	tracker *registration.Tracker
}

// New makes the controller. The tracker is shared with nodeclaim.lifecycle, which sees registrations end.
func New(kit reconcile.Kit, tracker *registration.Tracker) reconcile.Controller {
	h := health{kit, kit.Cloud.Describe(), class.From(kit), tracker}
	return reconcile.Controller{
		Name: "nodepool.registrationhealth",
		Watches: append([]reconcile.Watch{{Kind: &karpenterv1.NodePool{}, Matters: matters}},
			h.classes.Watches(class.Pools(kit))...),
		Workers:   reconcile.Workers{Min: 10, Max: 1000},
		Reconcile: h.reconcile,
	}
}

// matters: an edit, or a change of what was judged.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	a, b := old.(*karpenterv1.NodePool), changed.(*karpenterv1.NodePool)
	return a.Generation != b.Generation || judged(a) != judged(b) ||
		a.Status.NodeClassObservedGeneration != b.Status.NodeClassObservedGeneration
}

// judged is the condition; its type is empty if there is none.
func judged(pool *karpenterv1.NodePool) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(pool.Status.Conditions, karpenterv1.ConditionNodeRegistrationHealthy), metav1.Condition{})
}

func (h health) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	pool := &karpenterv1.NodePool{}
	if err := h.kit.Client.Get(ctx, key, pool); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	ref := class.Of(pool)
	if !h.about.Supports(ref) {
		return reconcile.Never, nil
	}
	found, err := h.classes.Find(ctx, ref)
	if err != nil || !found.Found { // nodes cannot join by a class that is missing; what is known stays
		return reconcile.Never, err
	}
	if isOutdated(pool, found) {
		return h.reset(ctx, pool, found)
	}
	h.remind(pool)
	return reconcile.Never, nil
}

// isOutdated tells whether the verdict, if there is one, is about other settings.
func isOutdated(pool *karpenterv1.NodePool, c class.Class) bool {
	verdict := judged(pool)
	return verdict.Type == "" || verdict.ObservedGeneration != pool.Generation ||
		pool.Status.NodeClassObservedGeneration != c.Generation
}

// reset forgets the outcomes first: a result that comes in between is then about the new settings, and the
// write below, which carries the version, fails.
func (h health) reset(ctx context.Context, pool *karpenterv1.NodePool, c class.Class) (reconcile.Result, error) {
	h.tracker.Reset(pool.UID)
	fresh := pool.DeepCopy()
	conditions := fresh.Conditions(h.kit.Clock.Now())
	conditions.SetAwaiting(karpenterv1.ConditionNodeRegistrationHealthy)
	fresh.Status.Conditions = conditions.List()
	fresh.Status.NodeClassObservedGeneration = c.Generation
	return patch.Status(ctx, h.kit, pool, fresh)
}

// remind gives the tracker what it knew before a restart. The tracker keeps newer outcomes.
func (h health) remind(pool *karpenterv1.NodePool) {
	switch judged(pool).Status {
	case metav1.ConditionTrue:
		h.tracker.Seed(pool.UID, true)
	case metav1.ConditionFalse:
		h.tracker.Seed(pool.UID, false)
	}
}
