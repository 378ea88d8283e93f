package sim_test

import (
	"testing"
	"time"

	"tenon/sim"
)

// A product that does nothing fails without any fault: shrinking leaves hardly anything.
func TestShrinkLeavesWhatMatters(t *testing.T) {
	t.Parallel()
	got := sim.Shrink(sim.Trial{
		Options: sim.Options{Seed: 3, Pods: 8, Product: doNothing}, Faults: "all", Hours: 1, Rest: time.Minute,
	})
	if got.Hours > 0.25 || got.Options.Pods > 2 || len(got.Faults) > len("interleave") || !got.Fails() {
		t.Errorf("left with %s", got)
	}
}
