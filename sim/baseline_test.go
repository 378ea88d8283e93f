package sim_test

import (
	"math"
	"testing"
	"time"

	"tenon/core/model"
	"tenon/sim"
)

// Disrupting nodes costs less than disrupting none, and less than disrupting only empty nodes, with the
// same users on the same day.
func TestDisruptionPaysOff(t *testing.T) {
	t.Parallel()
	alone(t)
	var prices []float64
	for _, baseline := range []string{sim.BaselineAlone, sim.BaselineEmpties} {
		o := sim.Trial{Options: sim.Options{Seed: 2, Pods: 8}, Faults: "none", Hours: 24, Baseline: baseline}.Run()
		if o.Failed() {
			t.Fatalf("%v %s", o.Err, o.Report)
		}
		if o.Report.Price >= o.Report.Alone {
			t.Errorf("%s: it has cost %s, and its baseline %s", baseline, o.Report.Price, o.Report.Alone)
		}
		prices = append(prices, o.Report.Alone.Float())
	}
	if prices[1] >= prices[0] {
		t.Errorf("giving up empty nodes costs %v, and nothing %v", prices[1], prices[0])
	}
}

// An unknown baseline is an error, not a run without one.
func TestUnknownBaselinesAreErrors(t *testing.T) {
	t.Parallel()
	if o := (sim.Trial{Options: sim.Options{Seed: 2}, Faults: "none", Hours: 0.1, Baseline: "evil"}).Run(); o.Err == nil {
		t.Error("it was run")
	}
}

// The cost of a run at rest does not count against a baseline that has no rest.
func TestRestIsNotCompared(t *testing.T) {
	t.Parallel()
	o := sim.Trial{Options: sim.Options{Seed: 2, Pods: 2}, Faults: "none", Hours: 0.1, Rest: 10 * time.Minute, Baseline: sim.BaselineEmpties}.Run()
	if o.Report.Beside <= 0 || o.Report.Beside >= o.Report.Price {
		t.Errorf("it has cost %s beside its baseline, and %s in all", o.Report.Beside, o.Report.Price)
	}
}

// A campaign pays if its runs together cost no more than their baselines. Runs without a baseline
// do not count.
func TestTalliesOfBaselines(t *testing.T) {
	t.Parallel()
	var tally sim.Tally
	add := func(beside, alone model.Money) {
		tally.Add(sim.TrialResult{Report: sim.Report{Price: 900, Beside: beside, Alone: alone}})
	}
	add(50, 100)
	add(110, 100)
	add(0, 0)
	if tally.Baselines != 2 || tally.Dearer != 1 || !tally.Pays() || math.Abs(tally.Saved()-0.2) > 1e-9 {
		t.Errorf("it comes to %+v, of which %v is saved", tally, tally.Saved())
	}
	if add(300, 100); tally.Pays() {
		t.Errorf("%+v pays", tally)
	}
}
