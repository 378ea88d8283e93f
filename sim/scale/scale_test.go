package scale_test

import (
	"testing"
	"time"

	"tenon/sim"
	"tenon/sim/scale"
)

// Small workloads come up, are scaled down, and come to rest both times near the bound, without a violation of the
// simulation's rules.
func TestFleetsComeToRestNearTheBound(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		workload string
		scale    float64
		most     float64 // of the bound
	}{
		{"mixed", 0.1, 1.03},
		{"purchase", 0.3, 1.06},
		{"sizes", 0.3, 1.03},
		{"zones", 1, 1.03},
	} {
		t.Run(tc.workload, func(t *testing.T) {
			t.Parallel()
			result, err := scale.Run(t.Context(), scale.Options{
				Options: sim.Options{Seed: 1}, Workload: tc.workload, Scale: tc.scale, Share: 0.3, Quiet: 20 * time.Second, Longest: 5 * time.Minute, Say: t.Logf,
			})
			if err != nil {
				t.Fatal(err)
			}
			for name, phase := range map[string]scale.Phase{"up": result.Up, "down": result.Down} {
				if ratio := float64(phase.Price) / float64(phase.Bound); !phase.AtRest || ratio < 1 || ratio > tc.most {
					t.Errorf("%s: %.3f of the bound: %+v", name, ratio, phase)
				}
			}
			if len(result.Violations) > 0 {
				t.Error(result.Violations)
			}
		})
	}
}
