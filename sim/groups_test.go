package sim_test

import (
	"testing"
	"time"

	"tenon/sim"
)

// Groups beside pools that are dearer, because they buy no spot machines, in mode native or (even seeds) cas, handed over to pools and back (every third seed), with others that write their
// sizes, shortages, and calls whose answers are lost, and (even seeds) with limits on all nodes: no rule is broken.
func TestGroups(t *testing.T) {
	t.Parallel()
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		options := sim.Options{Seed: seed + 1, Pods: 15, Groups: true, OnDemand: true, Effort: sim.UsualEffort}
		if seed%2 == 1 {
			options.Totals = "cores-total=16:40,memory-total=8:120"
		}
		o := sim.Trial{Options: options, Faults: "all", Hours: 1, Rest: 90 * time.Minute}.Run()
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		for _, v := range o.Violations {
			t.Errorf("%s: %s: %s", o.Trial, v.Rule, v.What)
		}
	}
}
