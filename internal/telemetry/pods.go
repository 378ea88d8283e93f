package telemetry

import "github.com/prometheus/client_golang/prometheus"

type podMetrics struct {
	PodsState                                      *prometheus.GaugeVec
	PodsStartupDurationSeconds                     *prometheus.SummaryVec
	PodsUnstartedTimeSeconds                       *prometheus.GaugeVec
	PodsBoundDurationSeconds                       *prometheus.HistogramVec
	PodsUnboundTimeSeconds                         *prometheus.GaugeVec
	PodsProvisioningBoundDurationSeconds           *prometheus.HistogramVec
	PodsProvisioningUnboundTimeSeconds             *prometheus.GaugeVec
	PodsProvisioningStartupDurationSeconds         *prometheus.HistogramVec
	PodsProvisioningUnstartedTimeSeconds           *prometheus.GaugeVec
	PodsProvisioningSchedulingUndecidedTimeSeconds *prometheus.GaugeVec
	PodsSchedulingDecisionDurationSeconds          *prometheus.HistogramVec
	PodsEvictionRequestsTotal                      *prometheus.CounterVec
	PodsNominationsTotal                           *prometheus.CounterVec
	PodsPlacementsTotal                            *prometheus.CounterVec
	PodsMovesTotal                                 *prometheus.CounterVec
	PodsDrainedTotal                               *prometheus.CounterVec
	PodsDisruptionInitiatedTotal                   *prometheus.CounterVec
}

func newPodMetrics(r *Register) podMetrics {
	return podMetrics{
		PodsState: r.Gauge("pods_state",
			"One series for each pod, with its place and its state as labels.",
			"name", "namespace", "owner", "node", "scheduled", "nodepool", "zone", "arch", "capacity_type", "instance_type", "phase", "ready", "managed"),
		PodsStartupDurationSeconds: r.Summary("pods_startup_duration_seconds",
			"Time from a pod's creation until it is ready."),
		PodsUnstartedTimeSeconds: r.Gauge("pods_unstarted_time_seconds",
			"Age of a pod that is not ready yet.", "name", "namespace"),
		PodsBoundDurationSeconds: r.Histogram("pods_bound_duration_seconds",
			"Time from a pod's creation until it has a node.", Durations()),
		PodsUnboundTimeSeconds: r.Gauge("pods_unbound_time_seconds",
			"Age of a pod that has no node yet.", "name", "namespace"),
		PodsProvisioningBoundDurationSeconds: r.Histogram("pods_provisioning_bound_duration_seconds",
			"Time from deciding where a pod can go until it has a node.", Durations()),
		PodsProvisioningUnboundTimeSeconds: r.Gauge("pods_provisioning_unbound_time_seconds",
			"Time since it was decided where a pod can go that has no node yet.", "name", "namespace"),
		PodsProvisioningStartupDurationSeconds: r.Histogram("pods_provisioning_startup_duration_seconds",
			"Time from deciding where a pod can go until it is ready.", Durations()),
		PodsProvisioningUnstartedTimeSeconds: r.Gauge("pods_provisioning_unstarted_time_seconds",
			"Time since it was decided where a pod can go that is not ready yet.", "name", "namespace"),
		PodsProvisioningSchedulingUndecidedTimeSeconds: r.Gauge("pods_provisioning_scheduling_undecided_time_seconds",
			"Time since a pending pod was first seen, while nothing is decided about it.", "name", "namespace"),
		PodsSchedulingDecisionDurationSeconds: r.Histogram("pods_scheduling_decision_duration_seconds",
			"Time from seeing a pending pod until the first decision about it.", Durations()),
		PodsEvictionRequestsTotal: r.Counter("pods_eviction_requests_total",
			"Requests to evict a pod, by the API server's answer.", "code"),
		PodsNominationsTotal: r.Counter("pods_nominations_total",
			"Pods whose status was made to name the node that was planned for them, and nominations that were withdrawn.", "action"),
		PodsPlacementsTotal: r.Counter("pods_placements_total",
			"Pods that were bound and had a place planned for them, by whether they landed there or in the place of a like pod.", "landed"),
		PodsMovesTotal: r.Counter("pods_moves_total",
			"Pods that a disruption moved, by whether a pod of their template came to the node that was planned for them. Counted ten seconds after its last eviction.", "landed"),
		PodsDrainedTotal: r.Counter("pods_drained_total",
			"Pods that were evicted or deleted to free a node, by why the node goes.", "reason"),
		PodsDisruptionInitiatedTotal: r.Counter("pods_disruption_initiated_total",
			"Pods that need a new place because their claim was disrupted.",
			"reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"),
	}
}
