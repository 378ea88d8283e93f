// Package validation says on every pool whether it is valid beyond its schema: the condition
// ValidationSucceeded, one of the two that make a pool ready. An unreadable Tenon annotation does not make
// a pool unready; it gets a separate condition and event.
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
	"tenon/internal/class"
	"tenon/internal/ingest"
	"tenon/internal/patch"
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

// matters: an edit, or a condition of ours that was changed by another writer.
func matters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return changed != nil
	}
	a, b := old.(*karpenterv1.NodePool), changed.(*karpenterv1.NodePool)
	said := func(annotation string) bool { return a.Annotations[annotation] == b.Annotations[annotation] }
	return a.Generation != b.Generation || !said(karpenterv1.AnnotationNodePrice) || !said(karpenterv1.AnnotationPriceCeiling) || !said(karpenterv1.AnnotationDriftAtLimit) ||
		verdicts(a) != verdicts(b)
}

// verdicts are the conditions that are written here, empty where there is none.
func verdicts(pool *karpenterv1.NodePool) (out [4]metav1.Condition) {
	for i, name := range []string{karpenterv1.ConditionValidationSucceeded, karpenterv1.ConditionNodePriceRefused, karpenterv1.ConditionDriftAtLimitRefused, karpenterv1.ConditionPriceCeilingRefused} {
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
	var refused []telemetry.Event
	for _, each := range v.refusals(pool) {
		if text := each.tell(pool, &conditions); text != "" {
			refused = append(refused, telemetry.Warning(pool, each.condition, text))
		}
	}
	told.Status.Conditions = conditions.List()
	again, err := patch.Status(ctx, v.kit, pool, told)
	if err == nil && again == reconcile.Never {
		for _, event := range refused {
			v.kit.Events.Publish(event)
		}
	}
	return again, err
}

// badAnnotation is an annotation that cannot be read, or one that can if err is nil.
type badAnnotation struct {
	condition, reason string
	err               error
	meanwhile         string // what counts until the annotation is corrected
}

func (v validation) refusals(pool *karpenterv1.NodePool) []badAnnotation {
	setting := v.kit.Settings.NodePrice
	_, price := ingest.NodePrice(pool, setting)
	_, atLimit := ingest.DeleteFirst(pool)
	_, ceiling := ingest.PriceCeiling(pool)
	return []badAnnotation{
		{karpenterv1.ConditionNodePriceRefused, "InvalidNodePrice", price, fmt.Sprintf("its nodes count with the setting's %s", setting)},
		{karpenterv1.ConditionDriftAtLimitRefused, "InvalidDriftAtLimit", atLimit, "drifted nodes stay where limits leave no room for a replacement"},
		{karpenterv1.ConditionPriceCeilingRefused, "InvalidPriceCeiling", ceiling, "its nodes are bought at any price"},
	}
}

// tell says on the pool that the annotation is unreadable, and which value counts meanwhile. It returns the
// text if it is new.
func (r *badAnnotation) tell(pool *karpenterv1.NodePool, conditions *condition.Set) string {
	if r.err == nil {
		conditions.Clear(r.condition)
		return ""
	}
	text := fmt.Sprintf("NodePool %s: %s; until then %s", pool.Name, r.err, r.meanwhile)
	if !conditions.SetTrueBecause(r.condition, r.reason, text) {
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
