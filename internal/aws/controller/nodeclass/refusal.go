package nodeclass

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "tenon/api/aws/v1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/class"
	"tenon/internal/lookup"
	"tenon/internal/reconcile"
)

// refusalMatters: what a pool says of refused launches its class says, too.
func refusalMatters(old, changed client.Object) bool { return refusal(old) != refusal(changed) }

// refusal is why AWS refuses the launches of a pool; the zero value if it does not.
func refusal(object client.Object) metav1.Condition {
	pool, is := object.(*karpenterv1.NodePool)
	if !is || pool == nil {
		return metav1.Condition{}
	}
	if c := meta.FindStatusCondition(pool.Status.Conditions, karpenterv1.ConditionLaunchesRefused); c != nil {
		return metav1.Condition{Reason: c.Reason, Message: c.Message}
	}
	return metav1.Condition{}
}

func classOfPool(_ context.Context, object client.Object) []reconcile.Key {
	if ref := class.Of(object.(*karpenterv1.NodePool)); ref.Group == awsv1.Group && ref.Name != "" {
		return []reconcile.Key{{Name: ref.Name}}
	}
	return nil
}

// showRefusal has a class say that launches with it are refused, for the first pool by name that says so.
func (k keeper) showRefusal(ctx context.Context, c *awsv1.EC2NodeClass) error {
	pools, err := lookup.PoolsWith(ctx, k.kit.Client, refOf(c))
	if err != nil {
		return fmt.Errorf("look for pools of class %s: %w", c.Name, err)
	}
	conditions := c.Conditions(k.kit.Settings.FeatureGates.ReservedCapacity, k.kit.Clock.Now())
	pools = slices.DeleteFunc(slices.Clone(pools), func(p *karpenterv1.NodePool) bool { return refusal(p).Reason == "" })
	if len(pools) == 0 {
		conditions.Clear(karpenterv1.ConditionLaunchesRefused)
	} else {
		first := slices.MinFunc(pools, func(a, b *karpenterv1.NodePool) int { return cmp.Compare(a.Name, b.Name) })
		why := refusal(first)
		conditions.SetTrueBecause(karpenterv1.ConditionLaunchesRefused, why.Reason, fmt.Sprintf("NodePool %s: %s", first.Name, why.Message))
	}
	c.Status.Conditions = conditions.List()
	return nil
}
