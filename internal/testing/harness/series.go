package harness

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Series returns the series of metrics, one a line, in scrape order: the name after the prefix, the
// labels with values, and the number; for histograms and summaries the number of observations and their
// sum.
func (r *Harness) Series(prefix string, metrics ...prometheus.Collector) []string {
	r.t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics...)
	families, err := registry.Gather()
	r.Must(err)
	var out []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			out = append(out, fmt.Sprintf("%s{%s} %s", strings.TrimPrefix(f.GetName(), prefix), labels(m), value(m)))
		}
	}
	return out
}

func labels(m *dto.Metric) string {
	var out []string
	for _, l := range m.GetLabel() {
		if l.GetValue() != "" {
			out = append(out, l.GetName()+"="+l.GetValue())
		}
	}
	return strings.Join(out, " ")
}

func value(m *dto.Metric) string {
	if h := m.GetHistogram(); h != nil {
		return fmt.Sprintf("%d times, %vs", h.GetSampleCount(), h.GetSampleSum())
	}
	if s := m.GetSummary(); s != nil {
		return fmt.Sprintf("%d times, %vs", s.GetSampleCount(), s.GetSampleSum())
	}
	return fmt.Sprint(m.GetGauge().GetValue() + m.GetCounter().GetValue())
}
