package telemetry

import "github.com/prometheus/client_golang/prometheus"

type schedulerMetrics struct {
	SchedulerSchedulingDurationSeconds       *prometheus.HistogramVec
	SchedulerQueueDepth                      *prometheus.GaugeVec
	SchedulerUnfinishedWorkSeconds           *prometheus.GaugeVec
	SchedulerIgnoredPodsCount                *prometheus.GaugeVec
	SchedulerUnschedulablePodsCount          *prometheus.GaugeVec
	SchedulerPendingPodsByEffectiveZoneCount *prometheus.GaugeVec
	ClusterStateNodeCount                    *prometheus.GaugeVec
	ClusterStateSynced                       *prometheus.GaugeVec
	ClusterStateUnsyncedTimeSeconds          *prometheus.GaugeVec
}

func newSchedulerMetrics(r *Register) schedulerMetrics {
	return schedulerMetrics{
		SchedulerSchedulingDurationSeconds: r.Histogram("scheduler_scheduling_duration_seconds",
			"How long deciding where pods go took.", Durations(), "controller"),
		SchedulerQueueDepth: r.Gauge("scheduler_queue_depth",
			"Pods about which the running decision has yet to decide.", "controller", "scheduling_id"),
		SchedulerUnfinishedWorkSeconds: r.Gauge("scheduler_unfinished_work_seconds",
			"How long the running decision has taken so far.", "controller", "scheduling_id"),
		SchedulerIgnoredPodsCount: r.Gauge("scheduler_ignored_pods_count",
			"Pending pods that Tenon ignores, because they ask for something that it cannot decide about."),
		SchedulerUnschedulablePodsCount: r.Gauge("scheduler_unschedulable_pods_count",
			"Pods for which the last decision found no place.", "controller"),
		SchedulerPendingPodsByEffectiveZoneCount: r.Gauge("scheduler_pending_pods_by_effective_zone_count",
			"Pending pods by the zone that they have to be in: one, any (flexible) or none.", "controller", "zone"),
		ClusterStateNodeCount: r.Gauge("cluster_state_node_count",
			"Nodes in the picture of the cluster that decisions are made from."),
		ClusterStateSynced: r.Gauge("cluster_state_synced",
			"Whether the picture of the cluster holds all nodes and claims: 1, or 0."),
		ClusterStateUnsyncedTimeSeconds: r.Gauge("cluster_state_unsynced_time_seconds",
			"How long the picture of the cluster has lacked nodes or claims."),
	}
}

type disruptionMetrics struct {
	VoluntaryDisruptionDecisionEvaluationDurationSeconds *prometheus.HistogramVec
	VoluntaryDisruptionDecisionsTotal                    *prometheus.CounterVec
	VoluntaryDisruptionDecisionsByNodepoolTotal          *prometheus.CounterVec
	VoluntaryDisruptionEligibleNodes                     *prometheus.GaugeVec
	VoluntaryDisruptionConsolidationTimeoutsTotal        *prometheus.CounterVec
	VoluntaryDisruptionFailedValidationsTotal            *prometheus.CounterVec
	VoluntaryDisruptionQueueFailuresTotal                *prometheus.CounterVec
	ConsolidationScore                                   *prometheus.HistogramVec
	ConsolidationMovesTotal                              *prometheus.CounterVec
	// VoluntaryDisruptionCoverageAgeSeconds is Tenon's own.
	VoluntaryDisruptionCoverageAgeSeconds *prometheus.GaugeVec
}

func newDisruptionMetrics(r *Register) disruptionMetrics {
	m := disruptionMetrics{
		VoluntaryDisruptionDecisionEvaluationDurationSeconds: r.Histogram("voluntary_disruption_decision_evaluation_duration_seconds",
			"How long looking for nodes to disrupt took.", Durations(), "reason", "consolidation_type"),
		VoluntaryDisruptionDecisionsTotal: r.Counter("voluntary_disruption_decisions_total",
			"Disruptions that were begun.", "decision", "reason", "consolidation_type"),
		VoluntaryDisruptionDecisionsByNodepoolTotal: r.Counter("voluntary_disruption_decisions_by_nodepool_total",
			"Disruptions that were begun, once for each pool with a node in it.", "nodepool", "decision", "reason", "consolidation_type"),
		VoluntaryDisruptionEligibleNodes: r.Gauge("voluntary_disruption_eligible_nodes",
			"Nodes that the last look found disruptable.", "reason"),
		VoluntaryDisruptionConsolidationTimeoutsTotal: r.Counter("voluntary_disruption_consolidation_timeouts_total",
			"Searches for consolidations that ended before all nodes were considered.", "consolidation_type"),
		VoluntaryDisruptionFailedValidationsTotal: r.Counter("voluntary_disruption_failed_validations_total",
			"Nodes of planned disruptions that failed the second check.", "consolidation_type"),
		VoluntaryDisruptionQueueFailuresTotal: r.Counter("voluntary_disruption_queue_failures_total",
			"Disruptions that were begun and given up.", "decision", "reason", "consolidation_type"),
		ConsolidationScore: r.Histogram("consolidation_score",
			"Savings of considered consolidations as a share of what they disrupt.", []float64{0.1, 0.25, 0.33, 0.5, 1, 2, 5, 10}, "decision", "nodepool", "policy"),
		ConsolidationMovesTotal: r.Counter("consolidation_moves_total",
			"Consolidations that were weighed, by the verdict.", "decision", "nodepool", "policy"),
		VoluntaryDisruptionCoverageAgeSeconds: r.Gauge("voluntary_disruption_coverage_age_seconds",
			"Age of the oldest verdict about a node: every node has been evaluated since then. Not in Karpenter."),
	}
	// Alerts on an increase need the zero before it.
	for _, kind := range []string{"multi", "single"} {
		m.VoluntaryDisruptionConsolidationTimeoutsTotal.WithLabelValues(kind)
	}
	return m
}

type cloudMetrics struct {
	CloudproviderDurationSeconds                   *prometheus.HistogramVec
	CloudproviderErrorsTotal                       *prometheus.CounterVec
	CloudproviderInstanceTypeCpuCores              *prometheus.GaugeVec
	CloudproviderInstanceTypeMemoryBytes           *prometheus.GaugeVec
	CloudproviderInstanceTypeOfferingAvailable     *prometheus.GaugeVec
	CloudproviderInstanceTypeOfferingPriceEstimate *prometheus.GaugeVec
}

func newCloudMetrics(r *Register) cloudMetrics {
	return cloudMetrics{
		CloudproviderDurationSeconds: r.Histogram("cloudprovider_duration_seconds",
			"How long calls of the provider took.", prometheus.DefBuckets, "controller", "method", "provider"),
		CloudproviderErrorsTotal: r.Counter("cloudprovider_errors_total",
			"Calls of the provider that failed, by the kind of error if it has one.", "controller", "method", "provider", "error"),
		CloudproviderInstanceTypeCpuCores: r.Gauge("cloudprovider_instance_type_cpu_cores",
			"Processors of an instance type.", "instance_type"),
		CloudproviderInstanceTypeMemoryBytes: r.Gauge("cloudprovider_instance_type_memory_bytes",
			"Memory of an instance type, as published.", "instance_type"),
		CloudproviderInstanceTypeOfferingAvailable: r.Gauge("cloudprovider_instance_type_offering_available",
			"Whether an offering can be had: 1, or 0.", "instance_type", "capacity_type", "zone"),
		CloudproviderInstanceTypeOfferingPriceEstimate: r.Gauge("cloudprovider_instance_type_offering_price_estimate",
			"Price of an offering for an hour.", "instance_type", "capacity_type", "zone"),
	}
}
