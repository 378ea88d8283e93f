package metrics_test

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	awsv1 "tenon/api/aws/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/controller/cloudprovider/metrics"
	"tenon/internal/testing/harness"
)

// fakeCatalog has a catalogue that a test thinks up.
type fakeCatalog struct {
	cloud.Provider
	catalog *catalog.Catalog
	err     error
}

func (s fakeCatalog) Catalog(context.Context, cloud.ClassRef) (*catalog.Catalog, error) {
	return s.catalog, s.err
}

// What can be bought shows with its price, and what cannot be had as 0.
func TestOffersAsMetrics(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	r.Kit.Settings.FeatureGates.ReservedCapacity = true
	c := &catalog.Catalog{Types: []catalog.Type{{
		Name: "m5.large",
		Requirements: requirement.NewSet(
			requirement.New(awsv1.LabelInstanceCPU, requirement.In, "2"), requirement.New(awsv1.LabelInstanceMemory, requirement.In, "8192")),
		Offerings: []catalog.Offering{
			{Zone: "a", CapacityType: "on-demand", Price: 96_000, Available: true},
			{Zone: "a", CapacityType: "spot", Price: 30_000},
		},
	}}}
	r.Cloud(func(p cloud.Provider) cloud.Provider { return fakeCatalog{p, c, nil} })
	r.Run(metrics.New(r.Kit), "")
	m := r.Kit.Metrics
	for name, tc := range map[string]struct {
		metric prometheus.Gauge
		want   float64
	}{
		"cores":                {m.CloudproviderInstanceTypeCpuCores.WithLabelValues("m5.large"), 2},
		"memory":               {m.CloudproviderInstanceTypeMemoryBytes.WithLabelValues("m5.large"), 8 << 30},
		"on demand":            {m.CloudproviderInstanceTypeOfferingAvailable.WithLabelValues("m5.large", "on-demand", "a"), 1},
		"spot":                 {m.CloudproviderInstanceTypeOfferingAvailable.WithLabelValues("m5.large", "spot", "a"), 0},
		"price on demand":      {m.CloudproviderInstanceTypeOfferingPriceEstimate.WithLabelValues("m5.large", "on-demand", "a"), 0.096},
		"without reservations": {m.CloudproviderInstanceTypeOfferingAvailable.WithLabelValues("m5.large", "reserved", "a"), 0},
	} {
		var got dto.Metric
		r.Must(tc.metric.Write(&got))
		if value := got.GetGauge().GetValue(); value != tc.want {
			t.Errorf("%s: %g, want %g", name, value, tc.want)
		}
	}
}

// A class that is not ready is no failure.
func TestClassNotReady(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	r.Cloud(func(p cloud.Provider) cloud.Provider { return fakeCatalog{p, nil, &cloud.ClassNotReady{}} })
	r.Run(metrics.New(r.Kit), "")
}

// What the bound on series would leave out is not kept either, and what was is let go.
func TestWithoutRoomNothingIsKept(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	one := catalog.Catalog{Types: []catalog.Type{{Name: "m5.large", Offerings: []catalog.Offering{{Zone: "a", CapacityType: "spot"}, {Zone: "b", CapacityType: "spot"}}}}}
	r.Cloud(func(p cloud.Provider) cloud.Provider { return fakeCatalog{p, &one, nil} })
	prices := r.Kit.Metrics.CloudproviderInstanceTypeOfferingPriceEstimate
	for _, step := range []struct{ series, want int }{{0, 2}, {6, 2}, {5, 0}} {
		r.Kit.Settings.MetricsSeries = step.series
		r.Run(metrics.New(r.Kit), "")
		if got := count(prices); got != step.want {
			t.Errorf("with room for %d series: %d prices, want %d", step.series, got, step.want)
		}
	}
}

func count(c prometheus.Collector) int {
	found := make(chan prometheus.Metric, 100)
	c.Collect(found)
	return len(found)
}
