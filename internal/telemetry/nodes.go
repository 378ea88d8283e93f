package telemetry

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tenon/core/requirement"
)

type nodeMetrics struct {
	NodesCreatedTotal               *prometheus.CounterVec
	NodesTerminatedTotal            *prometheus.CounterVec
	NodesDrainedTotal               *prometheus.CounterVec
	NodesTerminationDurationSeconds *prometheus.SummaryVec
	NodesLifetimeDurationSeconds    *prometheus.HistogramVec

	NodesAllocatable            *prometheus.GaugeVec
	NodesTotalPodRequests       *prometheus.GaugeVec
	NodesTotalPodLimits         *prometheus.GaugeVec
	NodesTotalDaemonRequests    *prometheus.GaugeVec
	NodesTotalDaemonLimits      *prometheus.GaugeVec
	NodesSystemOverhead         *prometheus.GaugeVec
	NodesCurrentLifetimeSeconds *prometheus.GaugeVec
	// NodeLabels are the keys whose values are the first labels of the gauges of single nodes, in
	// order. After them come node_name, phase, managed and, except for the lifetime, resource_type.
	NodeLabels []string

	ClusterUtilizationPercent *prometheus.GaugeVec
}

func newNodeMetrics(r *Register, labels Labels) nodeMetrics {
	keys := nodeKeys(labels)
	each := append(names(keys), "node_name", "phase", "managed")
	resources := append(slices.Clone(each), "resource_type")
	return nodeMetrics{
		NodesCreatedTotal: r.Counter("nodes_created_total",
			"Nodes that joined and were registered.", "nodepool", "zone"),
		NodesTerminatedTotal: r.Counter("nodes_terminated_total",
			"Nodes that were drained and removed.", "nodepool", "zone"),
		NodesDrainedTotal: r.Counter("nodes_drained_total",
			"Nodes from which all pods that have to leave have left.", "nodepool"),
		NodesTerminationDurationSeconds: r.Summary("nodes_termination_duration_seconds",
			"Time from a node's deletion until it is gone.", "nodepool"),
		NodesLifetimeDurationSeconds: r.Histogram("nodes_lifetime_duration_seconds",
			"Age of nodes when they are removed.", lifetimes(), "nodepool"),
		NodesAllocatable: r.Gauge("nodes_allocatable",
			"Resources of a node that pods can use.", resources...),
		NodesTotalPodRequests: r.Gauge("nodes_total_pod_requests",
			"Requests of the pods on a node, including those of DaemonSets.", resources...),
		NodesTotalPodLimits: r.Gauge("nodes_total_pod_limits",
			"Limits of the pods on a node, including those of DaemonSets.", resources...),
		NodesTotalDaemonRequests: r.Gauge("nodes_total_daemon_requests",
			"Requests of the pods of DaemonSets on a node.", resources...),
		NodesTotalDaemonLimits: r.Gauge("nodes_total_daemon_limits",
			"Limits of the pods of DaemonSets on a node.", resources...),
		NodesSystemOverhead: r.Gauge("nodes_system_overhead",
			"Resources that a node reserves for its own system.", resources...),
		NodesCurrentLifetimeSeconds: r.Gauge("nodes_current_lifetime_seconds",
			"Age of a node.", each...),
		NodeLabels: keys,
		ClusterUtilizationPercent: r.Gauge("cluster_utilization_percent",
			"Share of all nodes' allocatable resources that pods request, in percent.", "resource_type"),
	}
}

// nodeKeys are the API's well-known keys and then the provider's. Of two keys whose metric labels
// would be the same the first counts.
func nodeKeys(labels Labels) []string {
	keys := []string{
		requirement.KeyNodePool, requirement.KeyZone, requirement.KeyRegion, requirement.KeyInstanceType,
		requirement.KeyArch, requirement.KeyOS, requirement.KeyCapacityType, requirement.KeyWindowsBuild,
	}
	for _, key := range slices.Sorted(slices.Values(labels.WellKnown)) {
		same := func(other string) bool { return LabelName(other) == LabelName(key) }
		if !slices.ContainsFunc(keys, same) {
			keys = append(keys, key)
		}
	}
	return keys
}

func names(keys []string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = LabelName(key)
	}
	return out
}

// lifetimes are the buckets of ages of nodes: minutes for spot, days for the rest.
func lifetimes() []float64 {
	const day = 24 * time.Hour
	var out []float64
	for _, age := range []time.Duration{
		15 * time.Minute, 30 * time.Minute, 45 * time.Minute,
		time.Hour, 2 * time.Hour, 4 * time.Hour, 6 * time.Hour, 8 * time.Hour, 10 * time.Hour, 12 * time.Hour, 16 * time.Hour, 20 * time.Hour,
		day, 2 * day, 3 * day, 5 * day, 10 * day, 15 * day, 20 * day, 25 * day, 30 * day,
	} {
		out = append(out, age.Seconds())
	}
	return out
}
