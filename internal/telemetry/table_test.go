package telemetry

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"tenon/internal/version"
)

const (
	db          = "0.005 0.01 0.025 0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.6 0.7 0.8 0.9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 25 30 40 50 60 120 150 300 450 600"
	lifetimeAge = "900 1800 2700 3600 7200 14400 21600 28800 36000 43200 57600 72000 86400 172800 259200 432000 864000 1.296e+06 1.728e+06 2.16e+06 2.592e+06"
	halves      = "0.5 1 2 4 8 16 32 64 128 256 512 1024 2048 4096 8192"
	standard    = "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10"
	// w are the well-known labels, those of a provider last.
	w = "nodepool zone region instance_type arch os capacity_type windows_build size zone_id"
)

// documented is the table of metrics for which dashboards and alerts were written: name, type,
// labels in order, buckets.
var documented = []string{
	"karpenter_nodeclaims_created_total|counter|reason nodepool min_values_relaxed",
	"karpenter_nodeclaims_terminated_total|counter|nodepool capacity_type zone",
	"karpenter_nodeclaims_disrupted_total|counter|reason nodepool capacity_type consolidation_policy termination_mode",
	"karpenter_nodeclaims_instance_termination_duration_seconds|histogram|nodepool|1 2 4 8 16 32 64 128 256 512 1024",
	"karpenter_nodeclaims_termination_duration_seconds|histogram|nodepool|1 2 4 8 16 32 64 128 256 512 1024 2048",
	"karpenter_nodeclaims_unhealthy_disrupted_total|counter|condition nodepool capacity_type image_id",
	"karpenter_nodes_created_total|counter|nodepool zone",
	"karpenter_nodes_terminated_total|counter|nodepool zone",
	"karpenter_nodes_drained_total|counter|nodepool",
	"karpenter_nodes_termination_duration_seconds|summary|nodepool",
	"karpenter_nodes_lifetime_duration_seconds|histogram|nodepool|" + lifetimeAge,
	"karpenter_nodes_allocatable|gauge|" + w + " node_name phase managed resource_type",
	"karpenter_nodes_total_pod_requests|gauge|" + w + " node_name phase managed resource_type",
	"karpenter_nodes_total_pod_limits|gauge|" + w + " node_name phase managed resource_type",
	"karpenter_nodes_total_daemon_requests|gauge|" + w + " node_name phase managed resource_type",
	"karpenter_nodes_total_daemon_limits|gauge|" + w + " node_name phase managed resource_type",
	"karpenter_nodes_system_overhead|gauge|" + w + " node_name phase managed resource_type",
	"karpenter_nodes_current_lifetime_seconds|gauge|" + w + " node_name phase managed",
	"karpenter_cluster_utilization_percent|gauge|resource_type",
	"karpenter_nodepools_limit|gauge|resource_type nodepool",
	"karpenter_nodepools_usage|gauge|resource_type nodepool",
	"karpenter_nodepools_cost_total|gauge|nodepool",
	"karpenter_nodepools_cost_tracker_errors_total|counter|nodepool",
	"karpenter_nodepools_allowed_disruptions|gauge|nodepool reason",
	"karpenter_nodepools_nodes_consuming_budgets|gauge|nodepool reason",
	"karpenter_nodepools_savings_predicted|gauge|nodepool",
	"karpenter_nodepools_savings_realised|gauge|nodepool",
	"karpenter_nodepools_savings_caution|gauge|nodepool",
	"karpenter_cost_per_hour|gauge|nodepool capacity_type part",
	"karpenter_cost_pods_per_hour|gauge|namespace owner",
	"karpenter_cost_spent_total|counter|nodepool capacity_type",
	"karpenter_cost_spent_timestamp_seconds|gauge|",
	"karpenter_pods_state|gauge|name namespace owner node scheduled nodepool zone arch capacity_type instance_type phase ready managed",
	"karpenter_pods_startup_duration_seconds|summary|",
	"karpenter_pods_unstarted_time_seconds|gauge|name namespace",
	"karpenter_pods_bound_duration_seconds|histogram||" + db,
	"karpenter_pods_unbound_time_seconds|gauge|name namespace",
	"karpenter_pods_provisioning_bound_duration_seconds|histogram||" + db,
	"karpenter_pods_provisioning_unbound_time_seconds|gauge|name namespace",
	"karpenter_pods_provisioning_startup_duration_seconds|histogram||" + db,
	"karpenter_pods_provisioning_unstarted_time_seconds|gauge|name namespace",
	"karpenter_pods_provisioning_scheduling_undecided_time_seconds|gauge|name namespace",
	"karpenter_pods_scheduling_decision_duration_seconds|histogram||" + db,
	"karpenter_pods_eviction_requests_total|counter|code",
	"karpenter_pods_nominations_total|counter|action",
	"karpenter_pods_placements_total|counter|landed",
	"karpenter_pods_moves_total|counter|landed",
	"karpenter_pods_drained_total|counter|reason",
	"karpenter_pods_disruption_initiated_total|counter|reason nodepool capacity_type consolidation_policy termination_mode",
	"karpenter_scheduler_scheduling_duration_seconds|histogram|controller|" + db,
	"karpenter_scheduler_queue_depth|gauge|controller scheduling_id",
	"karpenter_scheduler_unfinished_work_seconds|gauge|controller scheduling_id",
	"karpenter_scheduler_ignored_pods_count|gauge|",
	"karpenter_scheduler_unschedulable_pods_count|gauge|controller",
	"karpenter_scheduler_pending_pods_by_effective_zone_count|gauge|controller zone",
	"karpenter_cluster_state_node_count|gauge|",
	"karpenter_cluster_state_synced|gauge|",
	"karpenter_cluster_state_unsynced_time_seconds|gauge|",
	"karpenter_voluntary_disruption_decision_evaluation_duration_seconds|histogram|reason consolidation_type|" + db,
	"karpenter_voluntary_disruption_decisions_total|counter|decision reason consolidation_type",
	"karpenter_voluntary_disruption_decisions_by_nodepool_total|counter|nodepool decision reason consolidation_type",
	"karpenter_voluntary_disruption_eligible_nodes|gauge|reason",
	"karpenter_voluntary_disruption_consolidation_timeouts_total|counter|consolidation_type",
	"karpenter_voluntary_disruption_failed_validations_total|counter|consolidation_type",
	"karpenter_voluntary_disruption_queue_failures_total|counter|decision reason consolidation_type",
	"karpenter_consolidation_score|histogram|decision nodepool policy|0.1 0.25 0.33 0.5 1 2 5 10",
	"karpenter_consolidation_moves_total|counter|decision nodepool policy",
	"karpenter_voluntary_disruption_coverage_age_seconds|gauge|",
	"karpenter_cloudprovider_duration_seconds|histogram|controller method provider|" + standard,
	"karpenter_cloudprovider_errors_total|counter|controller method provider error",
	"karpenter_cloudprovider_instance_type_cpu_cores|gauge|instance_type",
	"karpenter_cloudprovider_instance_type_memory_bytes|gauge|instance_type",
	"karpenter_cloudprovider_instance_type_offering_available|gauge|instance_type capacity_type zone",
	"karpenter_cloudprovider_instance_type_offering_price_estimate|gauge|instance_type capacity_type zone",
	"karpenter_shadow_nodes|gauge|side",
	"karpenter_shadow_price|gauge|side",
	"karpenter_shadow_cost|gauge|side",
	"karpenter_shadow_evictions|gauge|side",
	"karpenter_shadow_wait_seconds|gauge|side",
	"cluster_autoscaler_cluster_safe_to_autoscale|gauge|",
	"cluster_autoscaler_nodes_count|gauge|state",
	"cluster_autoscaler_node_groups_count|gauge|node_group_type",
	"cluster_autoscaler_unneeded_nodes_count|gauge|",
	"cluster_autoscaler_node_group_min_count|gauge|node_group",
	"cluster_autoscaler_node_group_max_count|gauge|node_group",
	"cluster_autoscaler_node_group_target_count|gauge|node_group",
	"cluster_autoscaler_node_group_healthiness|gauge|node_group",
	"cluster_autoscaler_last_activity|gauge|activity",
	"cluster_autoscaler_scaled_up_nodes_total|counter|gpu_resource_name gpu_name dra_drivers",
	"cluster_autoscaler_failed_scale_ups_total|counter|reason gpu_resource_name gpu_name dra_drivers",
	"cluster_autoscaler_node_group_backoff_status|gauge|node_group reason",
	"cluster_autoscaler_pending_node_deletions|gauge|",
	"cluster_autoscaler_scale_down_in_cooldown|gauge|",
	"cluster_autoscaler_cluster_cpu_current_cores|gauge|",
	"cluster_autoscaler_cluster_memory_current_bytes|gauge|",
	"cluster_autoscaler_max_nodes_count|gauge|",
	"cluster_autoscaler_cpu_limits_cores|gauge|direction",
	"cluster_autoscaler_memory_limits_bytes|gauge|direction",
	"cluster_autoscaler_node_taints_count|gauge|type",
	"cluster_autoscaler_unschedulable_pods_count|gauge|type",
	"cluster_autoscaler_unremovable_nodes_count|gauge|reason",
	"cluster_autoscaler_scaled_down_nodes_total|counter|reason gpu_resource_name gpu_name dra_drivers",
	"cluster_autoscaler_failed_node_creations_total|counter|reason",
	"cluster_autoscaler_old_unregistered_nodes_removed_count|counter|",
	"cluster_autoscaler_evicted_pods_total|counter|eviction_result",
	"cluster_autoscaler_errors_total|counter|type",
	"cluster_autoscaler_function_duration_seconds|histogram|function|" + db,
}

// kinds are the objects with conditions, and the last labels of their metrics.
var kinds = []struct{ name, labels, buckets string }{
	{"nodeclaim_", "cloud_example_class karpenter_sh_nodepool", halves},
	{"nodepool_", "", halves},
	{"node_", "cloud_example_class karpenter_sh_nodepool karpenter_sh_initialized", halves},
	{"capacitybuffer_", "", halves},
	{"provisioningrequest_", "", halves},
	{"class_", "", halves},
	{"", "group kind", standard},
}

func documentedOfConditions() []string {
	var out []string
	for _, k := range kinds {
		prefix := "operator_" + k.name
		for _, line := range []string{
			"status_condition_count|gauge|namespace name type status reason %s",
			"status_condition_current_status_seconds|gauge|namespace name type status reason %s",
			"status_condition_transitions_total|counter|type status reason %s",
			"status_condition_transition_seconds|histogram|type status %s|" + k.buckets,
			"termination_current_time_seconds|gauge|namespace name %s",
			"termination_duration_seconds|histogram|%s|" + k.buckets,
		} {
			out = append(out, strings.ReplaceAll(strings.TrimRight(prefix+fmt.Sprintf(line, k.labels), " "), " |", "|"))
		}
	}
	return out
}

// capture keeps the registered collectors.
type capture struct {
	*prometheus.Registry
	all []prometheus.Collector
}

func (c *capture) Register(collector prometheus.Collector) error {
	c.all = append(c.all, collector)
	return c.Registry.Register(collector)
}

// Every documented metric exists with its type, labels and buckets, and there are no others.
func TestMetricsAreTheDocumentedOnes(t *testing.T) {
	t.Parallel()
	into := &capture{Registry: prometheus.NewRegistry()}
	labels := Labels{WellKnown: []string{"cloud.example/zone-id", "cloud.example/size", "cloud.example/zone"}, Classes: []string{"cloud.example/class"}}
	m, err := NewMetrics(into, labels)
	if err != nil {
		t.Fatal(err)
	}
	want := append(slices.Clone(documented), documentedOfConditions()...)
	var described []string
	for _, f := range m.Families() {
		described = append(described, line(f.Name, f.Type, f.Labels, f.Buckets))
		if !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: the help %q is no sentence", f.Name, f.Help)
		}
	}
	if diff := cmp.Diff(want, described); diff != "" {
		t.Errorf("described (-documented +described):\n%s", diff)
	}
	var real []string
	for i, c := range into.all {
		real = append(real, lineOf(t, m.Families()[i].Labels, c))
	}
	if diff := cmp.Diff(want, real); diff != "" {
		t.Errorf("registered (-documented +registered):\n%s", diff)
	}
}

func line(name, kind string, labels []string, buckets []float64) string {
	out := name + "|" + kind + "|" + strings.Join(labels, " ")
	if len(buckets) > 0 {
		out += "|" + strings.Trim(fmt.Sprint(buckets), "[]")
	}
	return out
}

// lineOf describes a collector by its output after its first use, with labels in the order of their
// declaration.
func lineOf(t *testing.T, names []string, c prometheus.Collector) string {
	t.Helper()
	values := make([]string, len(names))
	for i := range values {
		values[i] = fmt.Sprintf("value%03d", i)
	}
	switch v := c.(type) {
	case *prometheus.CounterVec:
		v.Reset()
		v.WithLabelValues(values...).Inc()
	case *prometheus.GaugeVec:
		v.WithLabelValues(values...).Set(1)
	case *prometheus.HistogramVec:
		v.WithLabelValues(values...).Observe(1)
	case *prometheus.SummaryVec:
		v.WithLabelValues(values...).Observe(1)
		checkQuantiles(t, v, values)
	default:
		t.Fatalf("a %T", c)
	}
	alone := prometheus.NewRegistry()
	alone.MustRegister(c)
	f := gathered(t, alone)[0]
	pairs := slices.Clone(f.GetMetric()[0].GetLabel())
	slices.SortFunc(pairs, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetValue(), b.GetValue()) })
	var labels []string
	for _, p := range pairs {
		labels = append(labels, p.GetName())
	}
	var buckets []float64
	for _, b := range finite(f.GetMetric()[0].GetHistogram()) {
		buckets = append(buckets, b.GetUpperBound())
	}
	return line(f.GetName(), strings.ToLower(f.GetType().String()), labels, buckets)
}

func checkQuantiles(t *testing.T, v *prometheus.SummaryVec, values []string) {
	t.Helper()
	var m dto.Metric
	if err := v.WithLabelValues(values...).(prometheus.Metric).Write(&m); err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, q := range m.GetSummary().GetQuantile() {
		got = append(got, q.GetQuantile())
	}
	if diff := cmp.Diff([]float64{0, 0.5, 0.9, 0.99, 1}, got); diff != "" {
		t.Errorf("quantiles (-want +got):\n%s", diff)
	}
}

// Fields are named for their metrics, so that they need not be looked up.
func TestFieldsAreNamedForTheirMetrics(t *testing.T) {
	t.Parallel()
	m, err := NewMetrics(prometheus.NewRegistry(), Labels{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range documented {
		name := strings.TrimPrefix(strings.Split(text, "|")[0], Namespace+"_")
		var field strings.Builder
		for word := range strings.SplitSeq(name, "_") {
			field.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		if v := reflect.ValueOf(m).Elem().FieldByName(field.String()); !v.IsValid() || v.IsNil() {
			t.Errorf("there is no field %s for %s", field.String(), name)
		}
	}
}

// A counter whose increase triggers alerts exists before the first increase.
func TestTimeoutsBeginAtZero(t *testing.T) {
	t.Parallel()
	m, err := NewMetrics(prometheus.NewRegistry(), Labels{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"consolidation_type=multi", "consolidation_type=single"}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.VoluntaryDisruptionConsolidationTimeoutsTotal)
	var got []string
	for _, metric := range gathered(t, registry)[0].GetMetric() {
		got = append(got, labels(metric))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

// The build's metric has the documented labels; it is created separately, since it needs the build.
func TestBuildInfoIsBesideTheMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	if _, err := NewMetrics(registry, Labels{}); err != nil {
		t.Fatal(err)
	}
	if err := registry.Register(NewBuildInfo(version.Info{})); err != nil {
		t.Error(err)
	}
}
