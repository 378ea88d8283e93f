package execute

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/patch"
)

// reasonPodsWaiting is why LimitReached is True.
const reasonPodsWaiting = "PodsWaiting"

// MarkLimits sets the condition LimitReached of the pools that are named, with what would
// help, and takes it from all others. A conflict is left to the next decision.
func (e *Executor) MarkLimits(ctx context.Context, limited map[string]string) error {
	var wrong []error
	for _, pool := range e.world.Pools() {
		if err := e.markLimit(ctx, pool, limited[pool.Name]); err != nil {
			wrong = append(wrong, fmt.Errorf("mark pool %s: %w", pool.Name, err))
		}
	}
	return errors.Join(wrong...)
}

func (e *Executor) markLimit(ctx context.Context, pool *karpenterv1.NodePool, text string) error {
	conditions := pool.Conditions(e.kit.Clock.Now())
	changed := false
	if text == "" {
		changed = conditions.Clear(karpenterv1.ConditionLimitReached)
	} else if c, ok := conditions.Get(karpenterv1.ConditionLimitReached); !ok || c.Status != metav1.ConditionTrue {
		changed = conditions.SetTrueBecause(karpenterv1.ConditionLimitReached, reasonPodsWaiting, text)
	}
	if !changed {
		return nil
	}
	marked := pool.DeepCopy()
	marked.Status.Conditions = conditions.List()
	patch := patch.Locked(pool)
	err := e.kit.Client.Status().Patch(ctx, marked, patch)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
