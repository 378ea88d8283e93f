package telemetry

import (
	"cmp"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// busy is a process with 45 controllers in a cluster with a number of pools, each with four nodes
// and forty pods, without any limit on the metrics about single objects.
func busy(t *testing.T, pools int) prometheus.Gatherers {
	t.Helper()
	own := prometheus.NewRegistry()
	m, err := NewMetrics(own, Labels{Classes: []string{"c.x/class"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range pools {
		fillPool(m, fmt.Sprintf("pool-%d", i))
		fillObjects(m, fmt.Sprintf("pool-%d", i))
	}
	fillProcess(m)
	return prometheus.Gatherers{own, libraries(), metrics.Registry}
}

func fillPool(m *Metrics, pool string) {
	for _, z := range []string{"a", "b", "c"} {
		for _, ct := range []string{"spot", "on-demand"} {
			m.NodeclaimsTerminatedTotal.WithLabelValues(pool, ct, z).Inc()
		}
		m.NodesCreatedTotal.WithLabelValues(pool, z)
		m.NodesTerminatedTotal.WithLabelValues(pool, z)
	}
	for _, reason := range []string{"Empty", "Drifted", "Underutilized"} {
		m.NodepoolsAllowedDisruptions.WithLabelValues(pool, reason)
		m.NodepoolsNodesConsumingBudgets.WithLabelValues(pool, reason)
		m.NodeclaimsCreatedTotal.WithLabelValues(reason, pool, "false")
		m.NodeclaimsDisruptedTotal.WithLabelValues(reason, pool, "spot", "balanced", "graceful")
		m.PodsDisruptionInitiatedTotal.WithLabelValues(reason, pool, "spot", "balanced", "graceful")
		m.VoluntaryDisruptionDecisionsByNodepoolTotal.WithLabelValues(pool, "delete", reason, "single")
	}
	for _, res := range []string{"cpu", "memory", "pods", "ephemeral_storage", "nodes"} {
		m.NodepoolsLimit.WithLabelValues(res, pool)
		m.NodepoolsUsage.WithLabelValues(res, pool)
	}
	m.NodepoolsCostTotal.WithLabelValues(pool)
	m.NodesDrainedTotal.WithLabelValues(pool)
	m.NodeclaimsTerminationDurationSeconds.WithLabelValues(pool)
	m.NodeclaimsInstanceTerminationDurationSeconds.WithLabelValues(pool)
	m.NodesTerminationDurationSeconds.WithLabelValues(pool)
	m.NodesLifetimeDurationSeconds.WithLabelValues(pool)
}

func fillObjects(m *Metrics, pool string) {
	for _, ty := range []string{"Ready", "ValidationSucceeded", "NodeClassReady"} {
		m.Nodepool.StatusConditionCount.WithLabelValues("", pool, ty, "True", ty)
		m.Nodepool.StatusConditionCurrentStatusSeconds.WithLabelValues("", pool, ty, "True", ty)
	}
	for _, ty := range []string{"Ready", "Launched", "Registered", "Initialized", "Drifted", "Consolidatable"} {
		for _, st := range []string{"True", "False"} {
			for n := range 3 {
				m.Nodeclaim.StatusConditionCount.WithLabelValues("", fmt.Sprint(pool, n), ty, st, ty, "c", pool)
				m.Nodeclaim.StatusConditionCurrentStatusSeconds.WithLabelValues("", fmt.Sprint(pool, n), ty, st, ty, "c", pool)
			}
			m.Nodeclaim.StatusConditionTransitionsTotal.WithLabelValues(ty, st, ty, "c", pool)
			m.Nodeclaim.StatusConditionTransitionSeconds.WithLabelValues(ty, st, "c", pool)
		}
	}
	for n := range 4 {
		node := fmt.Sprint(pool, n)
		for _, res := range []string{"cpu", "memory", "pods", "ephemeral_storage"} {
			for _, g := range []*prometheus.GaugeVec{m.NodesAllocatable, m.NodesTotalPodRequests, m.NodesTotalPodLimits, m.NodesTotalDaemonRequests, m.NodesTotalDaemonLimits, m.NodesSystemOverhead} {
				g.WithLabelValues(pool, "a", "r", "m5.large", "amd64", "linux", "spot", "", node, "Ready", "true", res)
			}
		}
		m.NodesCurrentLifetimeSeconds.WithLabelValues(pool, "a", "r", "m5.large", "amd64", "linux", "spot", "", node, "Ready", "true")
		for p := range 10 {
			m.PodsState.WithLabelValues(fmt.Sprint(node, "-", p), "ns", "o"+pool, node, "true", pool, "a", "amd64", "spot", "m5.large", "Running", "true", "true").Set(1)
		}
	}
}

func fillProcess(m *Metrics) {
	for _, c := range []string{"provisioner", "disruption"} {
		m.SchedulerSchedulingDurationSeconds.WithLabelValues(c)
		m.SchedulerUnschedulablePodsCount.WithLabelValues(c)
		m.SchedulerQueueDepth.WithLabelValues(c, "x")
		m.SchedulerUnfinishedWorkSeconds.WithLabelValues(c, "x")
	}
	for _, h := range []*prometheus.HistogramVec{m.PodsBoundDurationSeconds, m.PodsProvisioningBoundDurationSeconds, m.PodsProvisioningStartupDurationSeconds, m.PodsSchedulingDecisionDurationSeconds} {
		h.WithLabelValues()
	}
	m.PodsStartupDurationSeconds.WithLabelValues()
	for _, g := range []*prometheus.GaugeVec{m.SchedulerIgnoredPodsCount, m.ClusterStateNodeCount, m.ClusterStateSynced, m.ClusterStateUnsyncedTimeSeconds} {
		g.WithLabelValues()
	}
	for _, reason := range []string{"empty", "drifted", "underutilized"} {
		m.VoluntaryDisruptionDecisionEvaluationDurationSeconds.WithLabelValues(reason, "single")
		m.VoluntaryDisruptionDecisionsTotal.WithLabelValues("delete", reason, "single")
		m.VoluntaryDisruptionEligibleNodes.WithLabelValues(reason)
	}
	for _, c := range []string{"nodeclaim.lifecycle", "provisioner", "nodeclaim.disruption", "nodeclaim.garbagecollection", "node.termination"} {
		for _, me := range []string{"Create", "Delete", "Get", "List", "GetInstanceTypes", "IsDrifted"} {
			m.CloudproviderDurationSeconds.WithLabelValues(c, me, "aws")
			m.CloudproviderErrorsTotal.WithLabelValues(c, me, "aws", "NodeClaimNotFoundError")
		}
	}
}

// libraries is the output of the controller framework for 45 controllers.
func libraries() prometheus.Gatherer {
	lib := prometheus.NewRegistry()
	counter := func(name string, l ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: "h"}, l)
		lib.MustRegister(v)
		return v
	}
	histogram := func(name string, n int, l ...string) *prometheus.HistogramVec {
		v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: "h", Buckets: prometheus.ExponentialBuckets(0.001, 2, n)}, l)
		lib.MustRegister(v)
		return v
	}
	rt := counter("controller_runtime_reconcile_total", "controller", "result")
	var per []*prometheus.CounterVec
	for _, n := range []string{"controller_runtime_reconcile_errors_total", "controller_runtime_terminal_reconcile_errors_total", "controller_runtime_reconcile_panics_total", "controller_runtime_max_concurrent_reconciles", "controller_runtime_active_workers"} {
		per = append(per, counter(n, "controller"))
	}
	var wq []*prometheus.CounterVec
	for _, n := range []string{"workqueue_adds_total", "workqueue_retries_total", "workqueue_depth", "workqueue_unfinished_work_seconds", "workqueue_longest_running_processor_seconds"} {
		wq = append(wq, counter(n, "name", "controller"))
	}
	h := histogram("controller_runtime_reconcile_time_seconds", 32, "controller")
	q1, q2 := histogram("workqueue_queue_duration_seconds", 11, "name", "controller"), histogram("workqueue_work_duration_seconds", 11, "name", "controller")
	rest := counter("rest_client_requests_total", "code", "host", "method")
	for _, c := range []string{"200", "201", "404", "409", "429"} {
		for _, me := range []string{"GET", "PUT", "POST", "PATCH", "DELETE"} {
			rest.WithLabelValues(c, "api", me)
		}
	}
	for i := range 45 {
		c := fmt.Sprintf("controller.%d", i)
		for _, res := range []string{"error", "requeue", "requeue_after", "success"} {
			rt.WithLabelValues(c, res).Inc()
		}
		for _, v := range per {
			v.WithLabelValues(c)
		}
		for _, v := range wq {
			v.WithLabelValues(c, c)
		}
		h.WithLabelValues(c)
		q1.WithLabelValues(c, c)
		q2.WithLabelValues(c, c)
	}
	return lib
}

func gathered(t *testing.T, g prometheus.Gatherer) []*dto.MetricFamily {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// For any number of pools, nodes and pods, the limit of lines is kept.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	for _, pools := range []int{0, 3, 40} {
		for _, limit := range []int{200, DefaultSeries, 5000} {
			page := httptest.NewRecorder()
			promhttp.HandlerFor(Bounded(busy(t, pools), limit), promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
			lines := 0
			for line := range strings.Lines(page.Body.String()) {
				if !strings.HasPrefix(line, "#") {
					lines++
				}
			}
			if page.Code != 200 || lines == 0 || lines > limit {
				t.Errorf("%d pools: status %d with %d series, want at most %d", pools, page.Code, lines, limit)
			}
		}
	}
}

// Coarser metrics still add up, none of ours is missing, and the gathered metrics are unchanged.
func TestWhatIsJoinedAddsUp(t *testing.T) {
	t.Parallel()
	before := gathered(t, busy(t, 30))
	want, sizes := totals(before), seriesOf(before)
	after := bound(before, DefaultSeries)
	for _, f := range bound(before, 200) {
		delete(want, f.GetName())
	}
	for name := range want {
		if ours(name) {
			t.Errorf("%s does not fit into the smallest bound", name)
		}
	}
	want = totals(before)
	if seriesOf(before) != sizes {
		t.Error("the gathered families were changed")
	}
	got := totals(after)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		total, there := got[name]
		switch {
		case !there && ours(name):
			t.Errorf("%s is gone", name)
		case there && total != want[name]:
			t.Errorf("%s adds up to %v, want %v", name, total, want[name])
		}
	}
	if got["karpenter_metrics_series_exposed"] != float64(seriesOf(after)) || got["karpenter_metrics_series_gathered"] != float64(sizes) {
		t.Errorf("says that %v of %v series are exposed, want %d of %d",
			got["karpenter_metrics_series_exposed"], got["karpenter_metrics_series_gathered"], seriesOf(after), sizes)
	}
	if diff := gocmp.Diff(describe(after), describe(bound(before, DefaultSeries))); diff != "" {
		t.Errorf("the same again is different:\n%s", diff)
	}
}

// totals are the sums over all series of each metric, except ages, which do not add up.
func totals(families []*dto.MetricFamily) map[string]float64 {
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			switch {
			case f.GetType() == dto.MetricType_GAUGE && joinsToLargest(f.GetName()):
				out[f.GetName()] = max(out[f.GetName()], m.GetGauge().GetValue())
			default:
				out[f.GetName()] += m.GetGauge().GetValue() + m.GetCounter().GetValue() +
					float64(m.GetHistogram().GetSampleCount()) + float64(m.GetSummary().GetSampleCount())
			}
		}
	}
	return out
}

// describe returns the series of families, one per line.
func describe(families []*dto.MetricFamily) []string {
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			out = append(out, fmt.Sprintf("%s{%s} %d", f.GetName(), labels(m), size(&dto.MetricFamily{Metric: []*dto.Metric{m}})))
		}
	}
	return out
}

// Metrics that fit are unchanged, and so is everything without a limit.
func TestWhatFitsIsLeftAlone(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m, err := NewMetrics(registry, Labels{})
	if err != nil {
		t.Fatal(err)
	}
	fillPool(m, "a")
	want := describe(gathered(t, registry))
	got := slices.DeleteFunc(describe(gathered(t, Bounded(registry, DefaultSeries))), func(s string) bool {
		return strings.HasPrefix(s, "karpenter_metrics_")
	})
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("a small process (-gathered +exposed):\n%s", diff)
	}
	for _, limit := range []int{0, -1} {
		if diff := gocmp.Diff(want, describe(gathered(t, Bounded(registry, limit)))); diff != "" {
			t.Errorf("without a bound:\n%s", diff)
		}
	}
}

// The price list is left out if it does not fit: prices do not add up.
func TestThePriceListGoesFirst(t *testing.T) {
	t.Parallel()
	for types, want := range map[int]int{10: 10, 1000: 0} {
		registry := prometheus.NewRegistry()
		m, err := NewMetrics(registry, Labels{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range types {
			m.CloudproviderInstanceTypeOfferingPriceEstimate.WithLabelValues(fmt.Sprintf("type-%d", i), "spot", "a").Set(1)
		}
		fillPool(m, "pool")
		got := 0
		for _, f := range bound(gathered(t, registry), DefaultSeries) {
			if f.GetName() == "karpenter_cloudprovider_instance_type_offering_price_estimate" {
				got = size(f)
			} else if strings.HasPrefix(f.GetName(), "karpenter_nodeclaims_") && len(f.GetMetric()[0].GetLabel()) == 0 {
				t.Errorf("%d types: %s lost labels", types, f.GetName())
			}
		}
		if got != want {
			t.Errorf("%d types: %d prices, want %d", types, got, want)
		}
	}
}

// In a cluster with few pools, the metrics that people compare pool by pool still have the pool.
func TestPoolsAreToldApartWhenTheyAreFew(t *testing.T) {
	t.Parallel()
	after := bound(gathered(t, busy(t, 5)), DefaultSeries)
	for _, name := range []string{"karpenter_nodepools_limit", "karpenter_nodepools_usage", "karpenter_nodepools_cost_total", "karpenter_nodepools_allowed_disruptions"} {
		at, found := slices.BinarySearchFunc(after, name, func(f *dto.MetricFamily, name string) int { return cmp.Compare(f.GetName(), name) })
		if !found || !strings.Contains(labels(after[at].GetMetric()[0]), "nodepool=") {
			t.Errorf("%s is not told by pool", name)
		}
	}
}

// Remaining buckets count as before, and the last bound stays until none do.
func TestBucketsAreThinned(t *testing.T) {
	t.Parallel()
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Buckets: Durations()})
	for _, v := range []float64{0.001, 0.2, 3, 20, 500, 1000} {
		h.Observe(v)
	}
	var m dto.Metric
	if err := h.Write(&m); err != nil {
		t.Fatal(err)
	}
	counts := map[float64]uint64{}
	for _, b := range m.GetHistogram().GetBucket() {
		counts[b.GetUpperBound()] = b.GetCumulativeCount()
	}
	for _, most := range []int{8, 4, 1, 0} {
		got := thinned(&m, most).GetHistogram()
		if len(got.GetBucket()) != most || got.GetSampleCount() != 6 || got.GetSampleSum() != m.GetHistogram().GetSampleSum() {
			t.Errorf("thinned to %d: %v", most, got)
		}
		for i, b := range got.GetBucket() {
			if b.GetCumulativeCount() != counts[b.GetUpperBound()] || i == most-1 && b.GetUpperBound() != 600 {
				t.Errorf("thinned to %d: bucket %v", most, b)
			}
		}
	}
}
