// Package validation says on every pool whether it makes sense, as far as its schema cannot
// tell: the condition ValidationSucceeded, one of the two that make a pool ready. A price of
// nodes that cannot be read makes no pool unready; it has a condition and an event of its own.
package validation

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/api/label"
	"tenon/cloud"
	"tenon/internal/amend"
	"tenon/internal/class"
	"tenon/internal/ingest"
	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
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
	a, b := old.(*karpenterv1.NodePool), changed.(*karpenterv1.NodePool)
	return a.Generation != b.Generation || a.Annotations[karpenterv1.AnnotationNodePrice] != b.Annotations[karpenterv1.AnnotationNodePrice] ||
		verdicts(a) != verdicts(b)
}

// verdicts are the conditions that are written here, empty where there is none.
func verdicts(pool *karpenterv1.NodePool) (out [2]metav1.Condition) {
	for i, name := range []string{karpenterv1.ConditionValidationSucceeded, karpenterv1.ConditionNodePriceRefused} {
		out[i] = ptr.Deref(meta.FindStatusCondition(pool.Status.Conditions, name), metav1.Condition{})
	}
	return out
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
	refused := v.refusePrice(pool, &conditions)
	told.Status.Conditions = conditions.List()
	again, err := amend.Status(ctx, v.kit.Client, pool, told)
	if err == nil && again == reconcile.Never && refused != "" {
		v.kit.Events.Publish(telemetry.Warning(pool, karpenterv1.ConditionNodePriceRefused, refused))
	}
	return again, err
}

// refusePrice says on the pool that its price of nodes cannot be read, and which one counts
// meanwhile. It returns the text if it is new.
func (v validation) refusePrice(pool *karpenterv1.NodePool, conditions *condition.Set) string {
	setting := v.kit.Settings.NodePrice
	_, err := ingest.NodePrice(pool, setting)
	if err == nil {
		conditions.Clear(karpenterv1.ConditionNodePriceRefused)
		return ""
	}
	text := fmt.Sprintf("NodePool %s: %s; until then its nodes count with the setting's %s", pool.Name, err, setting)
	if !conditions.SetTrueBecause(karpenterv1.ConditionNodePriceRefused, "InvalidNodePrice", text) {
		return ""
	}
	return text
}

// warn tells of what is probably a mistake and does no harm.
func (v validation) warn(ctx context.Context, pool *karpenterv1.NodePool) {
	for _, text := range pool.Warnings(v.rules) {
		reconcile.Log(ctx).Error(errors.New(text), "invalid values in requirements", "NodePool", pool.Name)
	}
}
