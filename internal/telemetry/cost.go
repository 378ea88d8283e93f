package telemetry

import "github.com/prometheus/client_golang/prometheus"

// costMetrics are Tenon's own.
type costMetrics struct {
	CostPerHour               *prometheus.GaugeVec
	CostPodsPerHour           *prometheus.GaugeVec
	CostSpentTotal            *prometheus.CounterVec
	CostSpentTimestampSeconds *prometheus.GaugeVec
}

func newCostMetrics(r *Register) costMetrics {
	return costMetrics{
		CostPerHour: r.Gauge("cost_per_hour",
			"What nodes cost an hour, divided among pods, daemons and idle room. Not in Karpenter.", "nodepool", "capacity_type", "part"),
		CostPodsPerHour: r.Gauge("cost_pods_per_hour",
			"The part of pods in what nodes cost an hour, without daemons. Not in Karpenter.", "namespace", "owner"),
		CostSpentTotal: r.Counter("cost_spent_total",
			"What nodes have cost since this process began: their prices times the hours from launch to end. Not in Karpenter.", "nodepool", "capacity_type"),
		CostSpentTimestampSeconds: r.Gauge("cost_spent_timestamp_seconds",
			"Until when karpenter_cost_spent_total counts, in seconds since 1970. Not in Karpenter."),
	}
}
