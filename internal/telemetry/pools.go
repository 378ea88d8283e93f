package telemetry

import "github.com/prometheus/client_golang/prometheus"

type poolMetrics struct {
	NodepoolsLimit                  *prometheus.GaugeVec
	NodepoolsUsage                  *prometheus.GaugeVec
	NodepoolsCostTotal              *prometheus.GaugeVec
	NodepoolsCostTrackerErrorsTotal *prometheus.CounterVec
	NodepoolsAllowedDisruptions     *prometheus.GaugeVec
	NodepoolsNodesConsumingBudgets  *prometheus.GaugeVec
	// Tenon's own.
	NodepoolsSavingsPredicted *prometheus.GaugeVec
	NodepoolsSavingsRealised  *prometheus.GaugeVec
	NodepoolsSavingsCaution   *prometheus.GaugeVec
}

func newPoolMetrics(r *Register) poolMetrics {
	return poolMetrics{
		NodepoolsLimit: r.Gauge("nodepools_limit",
			"Resources that a pool may have at most.", "resource_type", "nodepool"),
		NodepoolsUsage: r.Gauge("nodepools_usage",
			"Resources that a pool's nodes have.", "resource_type", "nodepool"),
		NodepoolsCostTotal: r.Gauge("nodepools_cost_total",
			"What a pool's nodes cost an hour.", "nodepool"),
		NodepoolsCostTrackerErrorsTotal: r.Counter("nodepools_cost_tracker_errors_total",
			"How often a pool's cost could not be added up in full, because a price was not known.", "nodepool"),
		NodepoolsAllowedDisruptions: r.Gauge("nodepools_allowed_disruptions",
			"Nodes of a pool that its budgets let be disrupted at the same time.", "nodepool", "reason"),
		NodepoolsNodesConsumingBudgets: r.Gauge("nodepools_nodes_consuming_budgets",
			"Nodes of a pool that its budgets count as being disrupted.", "nodepool", "reason"),
		NodepoolsSavingsPredicted: r.Gauge("nodepools_savings_predicted",
			"What the consolidations of a pool's nodes were expected to save an hour, in total. Not in Karpenter.", "nodepool"),
		NodepoolsSavingsRealised: r.Gauge("nodepools_savings_realised",
			"What the same consolidations did save an hour, less the price of nodes that were bought for their pods. Not in Karpenter.", "nodepool"),
		NodepoolsSavingsCaution: r.Gauge("nodepools_savings_caution",
			"How many times as much as usual an eviction from a pool's nodes has to save: 1 to 10. Not in Karpenter.", "nodepool"),
	}
}
