package nodepool

import (
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/snapshot"
	"tenon/internal/savings"
	"tenon/internal/telemetry"
)

// tellSavings tells what consolidation was expected to save in each pool, and what it did.
func (c *controller) tellSavings(pools []karpenterv1.NodePool) {
	now := c.kit.Clock.Now()
	predicted := telemetry.NewJoinedGauge("savings_predicted", 0, "nodepool")
	realised := telemetry.NewJoinedGauge("savings_realised", 0, "nodepool")
	caution := telemetry.NewJoinedGauge("savings_caution", 0, "nodepool")
	for i := range pools {
		pool := &pools[i]
		if !c.ours(pool) {
			continue
		}
		account := savings.Of(pool).As(now)
		predicted.Add(account.Predicted.Float(), pool.Name)
		realised.Add(account.Realised.Float(), pool.Name)
		caution.Add(float64(account.Caution(now))/snapshot.FullConfidence, pool.Name)
	}
	m := c.kit.Metrics
	c.shown[4] = predicted.Replace(m.NodepoolsSavingsPredicted, c.shown[4])
	c.shown[5] = realised.Replace(m.NodepoolsSavingsRealised, c.shown[5])
	c.shown[6] = caution.Replace(m.NodepoolsSavingsCaution, c.shown[6])
}
