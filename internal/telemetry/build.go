package telemetry

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"

	"tenon/internal/version"
)

// Namespace begins the name of every metric, so that dashboards made for Karpenter keep working.
const Namespace = "karpenter"

// NewBuildInfo is the constant metric that identifies the build.
func NewBuildInfo(build version.Info) prometheus.Collector {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace: Namespace,
		Name:      "build_info",
		Help:      "Which build is running, in its labels. Always 1.",
		ConstLabels: prometheus.Labels{
			"version":   build.Version,
			"goversion": build.GoVersion,
			"goarch":    runtime.GOARCH,
			"commit":    build.ShortCommit(),
		},
	})
	gauge.Set(1)
	return gauge
}
