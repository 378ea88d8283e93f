package telemetry

import (
	"maps"
	"math"
	"slices"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// The functions below do not change their arguments: gathered values may be shared with their
// collector.

func mapped(family *dto.MetricFamily, change func(*dto.Metric) *dto.Metric) *dto.MetricFamily {
	metrics := make([]*dto.Metric, len(family.GetMetric()))
	for i, m := range family.GetMetric() {
		metrics[i] = change(m)
	}
	return withMetrics(family, metrics)
}

func withMetrics(family *dto.MetricFamily, metrics []*dto.Metric) *dto.MetricFamily {
	return &dto.MetricFamily{Name: family.Name, Help: family.Help, Type: family.Type, Unit: family.Unit, Metric: metrics}
}

// finite are a histogram's buckets with a finite bound.
func finite(h *dto.Histogram) []*dto.Bucket {
	buckets := h.GetBucket()
	if n := len(buckets); n > 0 && math.IsInf(buckets[n-1].GetUpperBound(), 1) {
		return buckets[:n-1]
	}
	return buckets
}

// thinned is the metric with a limited number of buckets, evenly chosen, including the last. A
// bucket counts all values below its bound, so the remaining ones are as right as before.
func thinned(m *dto.Metric, most int) *dto.Metric {
	h := m.GetHistogram()
	buckets := finite(h)
	if len(buckets) <= most {
		return m
	}
	var kept []*dto.Bucket
	for i := 1; i <= most; i++ {
		kept = append(kept, buckets[i*len(buckets)/most-1])
	}
	return &dto.Metric{Label: m.Label, Histogram: &dto.Histogram{SampleCount: h.SampleCount, SampleSum: h.SampleSum, Bucket: kept}}
}

// without is the family without one label, in which equal series are joined.
func without(family *dto.MetricFamily, label string) *dto.MetricFamily {
	groups := map[string]*dto.Metric{}
	for _, m := range family.GetMetric() {
		labels := slices.DeleteFunc(slices.Clone(m.GetLabel()), func(l *dto.LabelPair) bool { return l.GetName() == label })
		key := labelKey(labels)
		if there, ok := groups[key]; ok {
			groups[key] = joined(family.GetName(), there, m)
		} else {
			groups[key] = relabelled(m, labels)
		}
	}
	metrics := make([]*dto.Metric, 0, len(groups))
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		metrics = append(metrics, groups[key])
	}
	return withMetrics(family, metrics)
}

func labelKey(labels []*dto.LabelPair) string {
	var key strings.Builder
	for _, l := range labels {
		key.WriteString(l.GetName() + "\x00" + l.GetValue() + "\x00")
	}
	return key.String()
}

func relabelled(m *dto.Metric, labels []*dto.LabelPair) *dto.Metric {
	return &dto.Metric{Label: labels, Counter: m.Counter, Gauge: m.Gauge, Untyped: m.Untyped, Histogram: m.Histogram, Summary: m.Summary}
}

// joined is two series as one, with the labels of the first.
func joined(name string, a, b *dto.Metric) *dto.Metric {
	out := &dto.Metric{Label: a.Label}
	switch {
	case a.Counter != nil:
		out.Counter = &dto.Counter{Value: sum(a.Counter.Value, b.Counter.Value)}
	case a.Gauge != nil && joinsToLargest(name):
		largest := max(a.Gauge.GetValue(), b.Gauge.GetValue())
		out.Gauge = &dto.Gauge{Value: &largest}
	case a.Gauge != nil:
		out.Gauge = &dto.Gauge{Value: sum(a.Gauge.Value, b.Gauge.Value)}
	case a.Histogram != nil:
		out.Histogram = joinedHistograms(a.Histogram, b.Histogram)
	case a.Summary != nil:
		// Quantiles cannot be joined.
		out.Summary = &dto.Summary{SampleCount: sum(a.Summary.SampleCount, b.Summary.SampleCount), SampleSum: sum(a.Summary.SampleSum, b.Summary.SampleSum)}
	default:
		out.Untyped = &dto.Untyped{Value: sum(a.Untyped.Value, b.Untyped.Value)}
	}
	return out
}

// joinedHistograms have the same buckets, since they are of one metric.
func joinedHistograms(a, b *dto.Histogram) *dto.Histogram {
	out := &dto.Histogram{SampleCount: sum(a.SampleCount, b.SampleCount), SampleSum: sum(a.SampleSum, b.SampleSum)}
	left, right := finite(a), finite(b)
	for i := range min(len(left), len(right)) {
		out.Bucket = append(out.Bucket, &dto.Bucket{
			UpperBound:      left[i].UpperBound,
			CumulativeCount: sum(left[i].CumulativeCount, right[i].CumulativeCount),
		})
	}
	return out
}

func sum[T uint64 | float64](a, b *T) *T {
	var total T
	for _, p := range []*T{a, b} {
		if p != nil {
			total += *p
		}
	}
	return &total
}
