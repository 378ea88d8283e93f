package sim_test

import (
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
// integrated from the call that launches each to the call that ends it: they differ by a thousandth at most. A machine that the cloud takes without
// a word costs until its node is gone, and never more than the fleet.
func TestCostsArePriceTimesHours(t *testing.T) {
	t.Parallel()
	alone(t)
	const untilGone = 45 * time.Second
	for name, tc := range map[string]struct {
		options sim.Options
		faults  string
	}{
		"on-demand machines":                 {sim.Options{Seed: 3, OnDemand: true}, "none"},
		"spot machines whose prices change":  {sim.Options{Seed: 4}, "price"},
		"machines that never join, or break": {sim.Options{Seed: 6}, "dud,sick"},
		"machines that are taken away":       {sim.Options{Seed: 5}, "interrupt"},
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
			report, log := run(t, o, 4*time.Hour)
			if len(report.Violations) > 0 {
				t.Fatal(strings.Join(report.Violations, "\n"))
			}
			spent, paid := sum(t, metrics.CostSpentTotal), report.Price.Float()
			silent := 0
			for _, line := range log {
				if strings.Contains(line, "reason=instance_terminated") {
					silent++
				}
			}
			late := float64(silent) * paid * untilGone.Hours() / report.Simulated.Hours()
			t.Logf("%d machines, %d taken without a word, spent %.4f, price times hours %.4f", report.Launches, silent, spent, paid)
			if off := spent - paid; report.Launches < 5 || !(off >= -paid/1000 && off <= paid/1000+late) {
				t.Errorf("off by %.4f%% after %d machines", 100*off/paid, report.Launches)
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
