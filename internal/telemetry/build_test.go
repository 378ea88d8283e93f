package telemetry

import (
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"tenon/internal/version"
)

func TestBuildInfoIsOneWithTheBuildInItsLabels(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	registry.MustRegister(NewBuildInfo(version.Info{Version: "1.2.3", Commit: "0123456789", GoVersion: "go1.26"}))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 1 || families[0].GetName() != "karpenter_build_info" || len(families[0].GetMetric()) != 1 {
		t.Fatalf("metrics: %v", families)
	}
	metric := families[0].GetMetric()[0]
	if metric.GetGauge().GetValue() != 1 {
		t.Errorf("value %v, want 1", metric.GetGauge().GetValue())
	}
	want := "commit=0123456 goarch=" + runtime.GOARCH + " goversion=go1.26 version=1.2.3"
	if got := labels(metric); got != want {
		t.Errorf("labels %s, want %s", got, want)
	}
}

func labels(metric *dto.Metric) string {
	var pairs []string
	for _, label := range metric.GetLabel() {
		pairs = append(pairs, label.GetName()+"="+label.GetValue())
	}
	return strings.Join(pairs, " ")
}
