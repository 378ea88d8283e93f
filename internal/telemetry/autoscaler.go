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
}

// autoscalerPrefix is before the names of these metrics, and ours is not.
const autoscalerPrefix = "cluster_autoscaler_"

func newAutoscalerMetrics(r *Register) autoscalerMetrics {
	const suffix = " As Cluster Autoscaler has it; not in Karpenter."
	return autoscalerMetrics{
		ClusterAutoscalerClusterSafeToAutoscale: r.Gauge(autoscalerPrefix+"cluster_safe_to_autoscale", "Whether all node groups in mode cas are healthy."+suffix),
		ClusterAutoscalerNodesCount:             r.Gauge(autoscalerPrefix+"nodes_count", "Nodes of groups in mode cas, and instances without one."+suffix, "state"),
		ClusterAutoscalerNodeGroupsCount:        r.Gauge(autoscalerPrefix+"node_groups_count", "Groups in mode cas."+suffix, "node_group_type"),
		ClusterAutoscalerUnneededNodesCount:     r.Gauge(autoscalerPrefix+"unneeded_nodes_count", "Nodes of groups in mode cas that nothing needs."+suffix),
		ClusterAutoscalerNodeGroupMinCount:      r.Gauge(autoscalerPrefix+"node_group_min_count", "The least size of a group in mode cas."+suffix, "node_group"),
		ClusterAutoscalerNodeGroupMaxCount:      r.Gauge(autoscalerPrefix+"node_group_max_count", "The largest size of a group in mode cas."+suffix, "node_group"),
		ClusterAutoscalerNodeGroupTargetCount:   r.Gauge(autoscalerPrefix+"node_group_target_count", "The desired size of a group in mode cas."+suffix, "node_group"),
		ClusterAutoscalerNodeGroupHealthiness:   r.Gauge(autoscalerPrefix+"node_group_healthiness", "Whether a group in mode cas is healthy and not in backoff."+suffix, "node_group"),
		ClusterAutoscalerLastActivity:           r.Gauge(autoscalerPrefix+"last_activity", "When groups in mode cas were last looked at, in seconds since 1970."+suffix, "activity"),
		ClusterAutoscalerScaledUpNodesTotal:     r.Counter(autoscalerPrefix+"scaled_up_nodes_total", "Nodes that groups in mode cas were asked for."+suffix, "gpu_resource_name", "gpu_name", "dra_drivers"),
		ClusterAutoscalerFailedScaleUpsTotal:    r.Counter(autoscalerPrefix+"failed_scale_ups_total", "Scale-ups of groups in mode cas that the cloud refused."+suffix, "reason", "gpu_resource_name", "gpu_name", "dra_drivers"),
	}
}
