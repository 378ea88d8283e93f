package sim_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"tenon/internal/reconcile"
	"tenon/internal/telemetry"
	"tenon/sim"
)

// TestCostsArePriceTimesHours checks what the product says was spent against the prices of all machines,
// integrated from the call that launches each to the call that ends it: they differ by a thousandth at most.
func TestCostsArePriceTimesHours(t *testing.T) {
	t.Parallel()
	alone(t)
	for name, tc := range map[string]struct {
		options sim.Options
		faults  string
		within  float64
	}{
		"on-demand machines":                 {sim.Options{Seed: 3, OnDemand: true}, "none", 0.001},
		"spot machines whose prices change":  {sim.Options{Seed: 4}, "price", 0.001},
		"machines that never join, or break": {sim.Options{Seed: 6}, "dud,sick", 0.001},
		// A machine that the cloud takes without a word costs until that is noticed. Four an hour are taken here.
		"machines that are taken away": {sim.Options{Seed: 5}, "interrupt", 0.003},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := tc.options
			var err error
			if o.Faults, err = sim.ParseFaults(tc.faults); err != nil {
				t.Fatal(err)
			}
			var metrics *telemetry.Metrics
			o.Pods = 30
			// The gauges of other things would take most of the steps.
			o.Product = func(kit reconcile.Kit, suffix func() string) sim.Product {
				metrics = kit.Metrics
				product := sim.Whole(kit, suffix)
				for i := range product.Controllers {
					if c := &product.Controllers[i]; c.Name == "metrics.cost" {
						c.Name = "cost"
					}
				}
				return product
			}
			report, _ := run(t, o, 4*time.Hour)
			if len(report.Violations) > 0 {
				t.Fatal(strings.Join(report.Violations, "\n"))
			}
			spent, paid := sum(t, metrics.CostSpentTotal), report.Price.Float()
			t.Logf("%d machines, spent %.4f, price times hours %.4f", report.Launches, spent, paid)
			if off := math.Abs(spent-paid) / paid; report.Launches < 5 || !(off <= tc.within) {
				t.Errorf("off by %.4f%% after %d machines", 100*off, report.Launches)
			}
		})
	}
}

func sum(t *testing.T, metric prometheus.Collector) float64 {
	t.Helper()
	all := make(chan prometheus.Metric, 100)
	metric.Collect(all)
	close(all)
	total := 0.0
	for m := range all {
		var out dto.Metric
		if err := m.Write(&out); err != nil {
			t.Fatal(err)
		}
		total += out.GetCounter().GetValue()
	}
	return total
}
