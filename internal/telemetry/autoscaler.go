package telemetry

import "github.com/prometheus/client_golang/prometheus"

// autoscalerMetrics have the names that dashboards and alerts for Cluster Autoscaler ask for. They are about node groups in mode
// cas, and are not served without such groups.
type autoscalerMetrics struct {
	ClusterAutoscalerClusterSafeToAutoscale *prometheus.GaugeVec
	ClusterAutoscalerNodesCount             *prometheus.GaugeVec
	ClusterAutoscalerNodeGroupsCount        *prometheus.GaugeVec
	ClusterAutoscalerUnneededNodesCount     *prometheus.GaugeVec
	ClusterAutoscalerNodeGroupMinCount      *prometheus.GaugeVec
	ClusterAutoscalerNodeGroupMaxCount      *prometheus.GaugeVec
	ClusterAutoscalerNodeGroupTargetCount   *prometheus.GaugeVec
	ClusterAutoscalerNodeGroupHealthiness   *prometheus.GaugeVec
	ClusterAutoscalerLastActivity           *prometheus.GaugeVec
	ClusterAutoscalerScaledUpNodesTotal     *prometheus.CounterVec
	ClusterAutoscalerFailedScaleUpsTotal    *prometheus.CounterVec

	ClusterAutoscalerNodeGroupBackoffStatus           *prometheus.GaugeVec
	ClusterAutoscalerPendingNodeDeletions             *prometheus.GaugeVec
	ClusterAutoscalerScaleDownInCooldown              *prometheus.GaugeVec
	ClusterAutoscalerClusterCpuCurrentCores           *prometheus.GaugeVec
	ClusterAutoscalerClusterMemoryCurrentBytes        *prometheus.GaugeVec
	ClusterAutoscalerMaxNodesCount                    *prometheus.GaugeVec
	ClusterAutoscalerCpuLimitsCores                   *prometheus.GaugeVec
	ClusterAutoscalerMemoryLimitsBytes                *prometheus.GaugeVec
	ClusterAutoscalerNodeTaintsCount                  *prometheus.GaugeVec
	ClusterAutoscalerUnschedulablePodsCount           *prometheus.GaugeVec
	ClusterAutoscalerUnremovableNodesCount            *prometheus.GaugeVec
	ClusterAutoscalerScaledDownNodesTotal             *prometheus.CounterVec
	ClusterAutoscalerFailedNodeCreationsTotal         *prometheus.CounterVec
	ClusterAutoscalerOldUnregisteredNodesRemovedCount *prometheus.CounterVec
	ClusterAutoscalerEvictedPodsTotal                 *prometheus.CounterVec
	ClusterAutoscalerErrorsTotal                      *prometheus.CounterVec
	ClusterAutoscalerFunctionDurationSeconds          *prometheus.HistogramVec
}

// autoscalerPrefix begins the names of these metrics, instead of ours.
const autoscalerPrefix = "cluster_autoscaler_"

func newAutoscalerMetrics(r *Register) autoscalerMetrics {
	const suffix = " As Cluster Autoscaler has it; not in Karpenter."
	return autoscalerMetrics{
		ClusterAutoscalerClusterSafeToAutoscale: r.Gauge(autoscalerPrefix+"cluster_safe_to_autoscale", "Whether all node groups in mode cas are healthy."+suffix),
		ClusterAutoscalerNodesCount:             r.Gauge(autoscalerPrefix+"nodes_count", "Nodes of groups in mode cas, and instances without one."+suffix, "state"),
		ClusterAutoscalerNodeGroupsCount:        r.Gauge(autoscalerPrefix+"node_groups_count", "Groups in mode cas."+suffix, "node_group_type"),
		ClusterAutoscalerUnneededNodesCount:     r.Gauge(autoscalerPrefix+"unneeded_nodes_count", "Unneeded nodes of groups in mode cas."+suffix),
		ClusterAutoscalerNodeGroupMinCount:      r.Gauge(autoscalerPrefix+"node_group_min_count", "The least size of a group in mode cas."+suffix, "node_group"),
		ClusterAutoscalerNodeGroupMaxCount:      r.Gauge(autoscalerPrefix+"node_group_max_count", "The largest size of a group in mode cas."+suffix, "node_group"),
		ClusterAutoscalerNodeGroupTargetCount:   r.Gauge(autoscalerPrefix+"node_group_target_count", "The desired size of a group in mode cas."+suffix, "node_group"),
		ClusterAutoscalerNodeGroupHealthiness:   r.Gauge(autoscalerPrefix+"node_group_healthiness", "Whether a group in mode cas is healthy and not in backoff."+suffix, "node_group"),
		ClusterAutoscalerLastActivity:           r.Gauge(autoscalerPrefix+"last_activity", "When groups in mode cas were last looked at (main, autoscaling), and when a decision was last made about pending pods (scaleUp) and about nodes (scaleDown), in seconds since 1970."+suffix, "activity"),
		ClusterAutoscalerScaledUpNodesTotal:     r.Counter(autoscalerPrefix+"scaled_up_nodes_total", "Nodes that were requested from groups in mode cas."+suffix, "gpu_resource_name", "gpu_name", "dra_drivers"),
		ClusterAutoscalerFailedScaleUpsTotal:    r.Counter(autoscalerPrefix+"failed_scale_ups_total", "Scale-ups of groups in mode cas that the cloud refused."+suffix, "reason", "gpu_resource_name", "gpu_name", "dra_drivers"),

		ClusterAutoscalerNodeGroupBackoffStatus:           r.Gauge(autoscalerPrefix+"node_group_backoff_status", "Why a group in mode cas does not grow for a while after instances did not come."+suffix, "node_group", "reason"),
		ClusterAutoscalerPendingNodeDeletions:             r.Gauge(autoscalerPrefix+"pending_node_deletions", "Nodes of groups in mode cas that are leaving."+suffix),
		ClusterAutoscalerScaleDownInCooldown:              r.Gauge(autoscalerPrefix+"scale_down_in_cooldown", "Whether delays after a change keep groups in mode cas from shrinking."+suffix),
		ClusterAutoscalerClusterCpuCurrentCores:           r.Gauge(autoscalerPrefix+"cluster_cpu_current_cores", "Processors of all nodes of the cluster."+suffix),
		ClusterAutoscalerClusterMemoryCurrentBytes:        r.Gauge(autoscalerPrefix+"cluster_memory_current_bytes", "Memory of all nodes of the cluster."+suffix),
		ClusterAutoscalerMaxNodesCount:                    r.Gauge(autoscalerPrefix+"max_nodes_count", "How many nodes the cluster may have: --max-nodes-total."+suffix),
		ClusterAutoscalerCpuLimitsCores:                   r.Gauge(autoscalerPrefix+"cpu_limits_cores", "The minimum and the maximum of --cores-total."+suffix, "direction"),
		ClusterAutoscalerMemoryLimitsBytes:                r.Gauge(autoscalerPrefix+"memory_limits_bytes", "The minimum and the maximum of --memory-total."+suffix, "direction"),
		ClusterAutoscalerNodeTaintsCount:                  r.Gauge(autoscalerPrefix+"node_taints_count", "Taints of nodes of groups in mode cas: those of unneeded nodes, and those of nodes that are being removed."+suffix, "type"),
		ClusterAutoscalerUnschedulablePodsCount:           r.Gauge(autoscalerPrefix+"unschedulable_pods_count", "Pending pods for which no node was requested, if there are groups in mode cas."+suffix, "type"),
		ClusterAutoscalerUnremovableNodesCount:            r.Gauge(autoscalerPrefix+"unremovable_nodes_count", "Nodes of groups in mode cas that stay, by reason."+suffix, "reason"),
		ClusterAutoscalerScaledDownNodesTotal:             r.Counter(autoscalerPrefix+"scaled_down_nodes_total", "Nodes that were removed from groups in mode cas."+suffix, "reason", "gpu_resource_name", "gpu_name", "dra_drivers"),
		ClusterAutoscalerFailedNodeCreationsTotal:         r.Counter(autoscalerPrefix+"failed_node_creations_total", "Instances that did not come to groups in mode cas."+suffix, "reason"),
		ClusterAutoscalerOldUnregisteredNodesRemovedCount: r.Counter(autoscalerPrefix+"old_unregistered_nodes_removed_count", "Instances of groups in mode cas that were ended because they did not become nodes."+suffix),
		ClusterAutoscalerEvictedPodsTotal:                 r.Counter(autoscalerPrefix+"evicted_pods_total", "Pods of nodes that were removed from groups in mode cas: succeeded ones were evicted, failed ones could not be for --max-pod-eviction-time."+suffix, "eviction_result"),
		ClusterAutoscalerErrorsTotal:                      r.Counter(autoscalerPrefix+"errors_total", "Calls about node groups that the cloud refused, or did not answer, if there are groups in mode cas: cloudProviderError."+suffix, "type"),
		ClusterAutoscalerFunctionDurationSeconds: r.Histogram(autoscalerPrefix+"function_duration_seconds",
			"How long decisions took if there are groups in mode cas: scaleUp about pending pods, findUnneeded about nodes."+suffix, Durations(), "function"),
	}
}
