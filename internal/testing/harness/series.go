package harness

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Series are those of metrics, one a line, in the order in which they are scraped: what the
// name has after the prefix, the labels that have a value, and the number; of histograms and
// summaries how often something was observed, and the sum of it.
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
