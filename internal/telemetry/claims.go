package telemetry

import "github.com/prometheus/client_golang/prometheus"

type claimMetrics struct {
	NodeclaimsCreatedTotal                       *prometheus.CounterVec
	NodeclaimsTerminatedTotal                    *prometheus.CounterVec
	NodeclaimsDisruptedTotal                     *prometheus.CounterVec
	NodeclaimsInstanceTerminationDurationSeconds *prometheus.HistogramVec
	NodeclaimsTerminationDurationSeconds         *prometheus.HistogramVec
	NodeclaimsUnhealthyDisruptedTotal            *prometheus.CounterVec
}

func newClaimMetrics(r *Register) claimMetrics {
	return claimMetrics{
		NodeclaimsCreatedTotal: r.Counter("nodeclaims_created_total",
			"Claims that were created, by reason.", "reason", "nodepool", "min_values_relaxed"),
		NodeclaimsTerminatedTotal: r.Counter("nodeclaims_terminated_total",
			"Claims that were removed from the API server.", "nodepool", "capacity_type", "zone"),
		NodeclaimsDisruptedTotal: r.Counter("nodeclaims_disrupted_total",
			"Claims that this controller decided to delete, by reason.",
			"reason", "nodepool", "capacity_type", "consolidation_policy", "termination_mode"),
		NodeclaimsInstanceTerminationDurationSeconds: r.Histogram("nodeclaims_instance_termination_duration_seconds",
			"Time from asking the provider to end an instance until it is gone.", prometheus.ExponentialBuckets(1, 2, 11), "nodepool"),
		NodeclaimsTerminationDurationSeconds: r.Histogram("nodeclaims_termination_duration_seconds",
			"Time from a claim's deletion until it is gone.", prometheus.ExponentialBuckets(1, 2, 12), "nodepool"),
		NodeclaimsUnhealthyDisruptedTotal: r.Counter("nodeclaims_unhealthy_disrupted_total",
			"Claims that were deleted because their node was unhealthy, by the node's condition.",
			"condition", "nodepool", "capacity_type", "image_id"),
	}
}
