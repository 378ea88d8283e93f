package telemetry

import "github.com/prometheus/client_golang/prometheus"

// shadowMetrics are Tenon's own. The label side is incumbent for the actual state, or tenon for what Tenon
// would have done.
type shadowMetrics struct {
	ShadowNodes       *prometheus.GaugeVec
	ShadowPrice       *prometheus.GaugeVec
	ShadowCost        *prometheus.GaugeVec
	ShadowEvictions   *prometheus.GaugeVec
	ShadowWaitSeconds *prometheus.GaugeVec
}

func newShadowMetrics(r *Register) shadowMetrics {
	return shadowMetrics{
		ShadowNodes: r.Gauge("shadow_nodes",
			"In shadow mode: how many nodes there are (incumbent), and would be with Tenon's plan (tenon). Not in Karpenter.", "side"),
		ShadowPrice: r.Gauge("shadow_price",
			"In shadow mode: what these nodes cost an hour. Not in Karpenter.", "side"),
		ShadowCost: r.Gauge("shadow_cost",
			"In shadow mode: what these nodes have cost since the process started. Not in Karpenter.", "side"),
		ShadowEvictions: r.Gauge("shadow_evictions",
			"In shadow mode: pods on nodes that were given up, and pods that Tenon would have moved, since the process started. Not in Karpenter.", "side"),
		ShadowWaitSeconds: r.Gauge("shadow_wait_seconds",
			"In shadow mode: how long pods waited for a node, and for Tenon's decision, all together, since the process started. Not in Karpenter.", "side"),
	}
}
