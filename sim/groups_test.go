package sim_test

import (
	"testing"
	"time"

	"tenon/sim"
)

// Groups beside pools, in mode native or (even seeds) cas, handed over to pools and back (every third seed), with others that write their
// sizes, shortages, and calls whose answers are lost: no rule is broken.
func TestGroups(t *testing.T) {
	t.Parallel()
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		o := sim.Trial{Options: sim.Options{Seed: seed + 1, Pods: 15, Groups: true, Effort: sim.UsualEffort}, Faults: "all", Hours: 1, Rest: 90 * time.Minute}.Run()
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		for _, v := range o.Violations {
			t.Errorf("%s: %s: %s", o.Trial, v.Rule, v.What)
		}
	}
}
