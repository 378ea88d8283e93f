package sim_test

import (
	"context"
	"testing"
	"time"

	"tenon/sim"
	"tenon/sim/traffic"
)

// A tenant repeatedly asks for up to 200 pods of up to four cores, and its quota allows six at most:
// the purchases never come near its requests.
func TestAQuotaBoundsWhatIsBought(t *testing.T) {
	t.Parallel()
	alone(t)
	faults, err := sim.ParseFaults("quota*5")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		s, err := sim.New(sim.Options{Seed: seed, Faults: faults})
		if err != nil {
			t.Fatal(err)
		}
		users := &traffic.Users{Client: s.Store, Now: s.Clock.Now}
		if err := users.Furnish(context.Background()); err != nil {
			t.Fatal(err)
		}
		const pods, each = 6, 4000
		most := int64(0)
		for range 2 * 60 {
			s.Run(time.Minute)
			sum := int64(0)
			for _, i := range s.Cloud.Instances() {
				sum += i.Capacity.CPU
			}
			most = max(most, sum)
		}
		if most == 0 || most > 2*pods*each {
			t.Errorf("seed %d: there were machines with %dm of CPU, want %dm at most for what the quota allows", seed, most, 2*pods*each)
		}
		if violations := s.Report().Violations; len(violations) > 0 {
			t.Errorf("seed %d: %v", seed, violations)
		}
	}
}
