// Package validation says on every pool whether it makes sense, as far as its schema cannot
// tell: the condition ValidationSucceeded, one of the two that make a pool ready.
package validation

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/label"
	"tenon/cloud"
	"tenon/internal/amend"
	"tenon/internal/class"
	"tenon/internal/ingest"
	"tenon/internal/reconcile"
)

type validation struct {
	kit   reconcile.Kit
	about cloud.Description
	rules label.Rules
}

// New makes the controller.
func New(kit reconcile.Kit) reconcile.Controller {
	about := kit.Cloud.Describe()
	v := validation{kit, about, ingest.Rules(about.Vocabulary())}
	return reconcile.Controller{
		Name:      "nodepool.validation",
		Watches:   []reconcile.Watch{{Kind: &karpenterv1.NodePool{}, Matters: matters}},
		Workers:   reconcile.Workers{Min: 10, Max: 10},
		Reconcile: v.reconcile,
	}
}

// matters: an edit, or a verdict that somebody else has changed.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	return old.GetGeneration() != changed.GetGeneration() ||
		verdict(old.(*karpenterv1.NodePool)) != verdict(changed.(*karpenterv1.NodePool))
}

// verdict is the condition that is written here, or nothing.
func verdict(pool *karpenterv1.NodePool) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(pool.Status.Conditions, karpenterv1.ConditionValidationSucceeded), metav1.Condition{})
}

func (v validation) reconcile(ctx context.Context, key reconcile.Key) (reconcile.Result, error) {
	pool := &karpenterv1.NodePool{}
	if err := v.kit.Client.Get(ctx, key, pool); err != nil {
		return reconcile.Never, client.IgnoreNotFound(err)
	}
	if !v.about.Supports(class.Of(pool)) {
		return reconcile.Never, nil
	}
	told := pool.DeepCopy()
	conditions := told.Conditions(v.kit.Clock.Now())
	var changed bool
	if err := pool.Validate(v.rules); err != nil {
		changed = conditions.SetFalse(karpenterv1.ConditionValidationSucceeded, karpenterv1.ReasonValidationFailed, err.Error())
	} else {
		changed = conditions.SetTrue(karpenterv1.ConditionValidationSucceeded)
	}
	if changed { // once for each edit
		v.warn(ctx, pool)
	}
	told.Status.Conditions = conditions.List()
	return amend.Status(ctx, v.kit.Client, pool, told)
}

// warn tells of what is probably a mistake and does no harm.
func (v validation) warn(ctx context.Context, pool *karpenterv1.NodePool) {
	for _, text := range pool.Warnings(v.rules) {
		reconcile.Log(ctx).Error(errors.New(text), "invalid values in requirements", "NodePool", pool.Name)
	}
}
