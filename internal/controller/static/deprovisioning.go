package static

import (
	"context"
	"fmt"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/lookup"
	"tenon/internal/patch"
	"tenon/internal/reconcile"
)

// deprovision deletes the surplus claims of a pool. Neither budgets nor pods that must not be
// disrupted stop it: the user asked for this number. Drains are as gentle as usual.
func (s static) deprovision(ctx context.Context, pool *karpenterv1.NodePool) (reconcile.Result, error) {
	// 1. The cache says whether there may be something to do.
	seen, err := s.seen(ctx, pool)
	if err != nil || seen.extra(pool) == 0 {
		return reconcile.In(period), err
	}
	// 2. The API server says how many, and the pods on the nodes say which.
	pool, current, err := s.current(ctx, pool.Name)
	if err != nil || pool == nil || current.extra(pool) == 0 {
		return reconcile.In(period), err
	}
	running := make([]occupied, 0, len(current.running))
	for _, claim := range current.running {
		o, err := s.occupied(ctx, claim)
		if err != nil {
			return reconcile.Never, err
		}
		running = append(running, o)
	}
	// 3. Delete them.
	for _, o := range ranked(running, s.kit.Clock.Now())[:current.extra(pool)] {
		if err := s.remove(ctx, o.claim); err != nil {
			return reconcile.Never, err
		}
	}
	return reconcile.In(period), nil
}

// occupied finds the pods on a claim's node.
func (s static) occupied(ctx context.Context, claim *karpenterv1.NodeClaim) (occupied, error) {
	o := occupied{claim: claim}
	nodes, err := lookup.NodesOfClaim(ctx, s.kit.Client, claim)
	if err != nil {
		return o, err
	}
	for _, node := range nodes {
		pods, err := lookup.PodsOn(ctx, s.kit.Client, node.Name)
		if err != nil {
			return o, err
		}
		o.pods = append(o.pods, pods...)
	}
	return o, nil
}

func (s static) remove(ctx context.Context, claim *karpenterv1.NodeClaim) error {
	if err := patch.Delete(ctx, s.kit, claim); err != nil {
		return fmt.Errorf("delete claim %s: %w", claim.Name, err)
	}
	reconcile.Log(ctx).Info("deleting nodeclaim that its static pool does not need", "NodePool",
		claim.Labels[karpenterv1.LabelNodePool], "NodeClaim", claim.Name)
	return nil
}
