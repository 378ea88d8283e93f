package sim_test

import (
	"testing"

	"tenon/sim"
)

// Giving nodes up is cheaper than doing nothing, and cheaper than giving up empty ones
// alone: the same users, the same day.
func TestTwins(t *testing.T) {
	t.Parallel()
	var prices []float64
	for _, twin := range []string{sim.TwinAlone, sim.TwinEmpties} {
		o := sim.Trial{Options: sim.Options{Seed: 2, Pods: 8}, Faults: "none", Hours: 24, Twin: twin}.Run()
		if o.Failed() {
			t.Fatalf("%v %s", o.Err, o.Report)
		}
		if o.Report.Price >= o.Report.Alone {
			t.Errorf("%s: it has cost %s, and its twin %s", twin, o.Report.Price, o.Report.Alone)
		}
		prices = append(prices, o.Report.Alone.Float())
	}
	if prices[1] >= prices[0] {
		t.Errorf("giving up empty nodes costs %v, and nothing %v", prices[1], prices[0])
	}
}

// A twin that nobody knows is an error, not a run without one.
func TestTwinsAreKnown(t *testing.T) {
	t.Parallel()
	if o := (sim.Trial{Options: sim.Options{Seed: 2}, Faults: "none", Hours: 0.1, Twin: "evil"}).Run(); o.Err == nil {
		t.Error("it was run")
	}
}
