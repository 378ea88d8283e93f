package scale_test

import (
	"testing"
	"time"

	"tenon/sim"
	"tenon/sim/scale"
)

// A small workload comes up, is scaled down, and comes to rest both times near the bound, without a
// violation of the simulation's rules.
func TestFleetsComeToRestNearTheBound(t *testing.T) {
	t.Parallel()
	result, err := scale.Run(t.Context(), scale.Options{
		Options: sim.Options{Seed: 1}, Workload: "mixed", Scale: 0.1, Share: 0.3, Quiet: 20 * time.Second, Longest: 5 * time.Minute, Say: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, phase := range map[string]scale.Phase{"up": result.Up, "down": result.Down} {
		if !phase.AtRest || phase.Price < phase.Bound || phase.Price > 1.25*phase.Bound {
			t.Errorf("%s: %+v", name, phase)
		}
	}
	if len(result.Violations) > 0 {
		t.Error(result.Violations)
	}
}
