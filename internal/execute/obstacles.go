package execute

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/patch"
)

// reasonPodsWaiting is why the conditions of Obstacles are True.
const reasonPodsWaiting = "PodsWaiting"

// Obstacles are the reasons why pods wait, by the names of pools: limits with what would help, and
// offerings that are out of stock.
type Obstacles struct {
	Limits, Stock map[string]string
}

// MarkPools sets the conditions LimitReached and OutOfStock of the named pools, and removes them
// from all others. A conflict is left to the next decision.
func (e *Executor) MarkPools(ctx context.Context, o Obstacles) error {
	var wrong []error
	for _, pool := range e.world.Pools() {
		if err := e.markPool(ctx, pool, o.Limits[pool.Name], o.Stock[pool.Name]); err != nil {
			wrong = append(wrong, fmt.Errorf("mark pool %s: %w", pool.Name, err))
		}
	}
	return errors.Join(wrong...)
}

func (e *Executor) markPool(ctx context.Context, pool *karpenterv1.NodePool, limit, stock string) error {
	conditions := pool.Conditions(e.kit.Clock.Now())
	if c, ok := conditions.Get(karpenterv1.ConditionLimitReached); limit != "" && ok && c.Status == metav1.ConditionTrue {
		limit = c.Message // its amounts change with every pod
	}
	changed := false
	for name, text := range map[string]string{karpenterv1.ConditionLimitReached: limit, karpenterv1.ConditionOutOfStock: stock} {
		if text == "" {
			changed = conditions.Clear(name) || changed
		} else {
			changed = conditions.SetTrueBecause(name, reasonPodsWaiting, text) || changed
		}
	}
	if !changed {
		return nil
	}
	marked := pool.DeepCopy()
	marked.Status.Conditions = conditions.List()
	_, err := patch.Status(ctx, e.kit, pool, marked)
	return err
}
