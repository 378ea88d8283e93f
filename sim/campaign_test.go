package sim_test

import (
	"slices"
	"testing"
	"time"

	"tenon/sim"
	"tenon/sim/invariant"
)

// A campaign reports seeds in their order, however many run at a time, and ends after the given number of
// failures.
func TestCampaigns(t *testing.T) {
	t.Parallel()
	var seeds []uint64
	tally := sim.Campaign{
		Trial:    sim.Trial{Options: sim.Options{Seed: 5, Pods: 2, Product: doNothing}, Faults: "edits", Hours: 0.1, Rest: time.Minute, Rule: invariant.RestRuns},
		Parallel: 3, Failures: 2,
		Tried: func(o sim.TrialResult) { seeds = append(seeds, o.Trial.Options.Seed) },
	}.Run()
	if !slices.Equal(seeds, []uint64{5, 6}) || tally.Tried != 2 || tally.Failed != 2 {
		t.Errorf("it told of %v, and came to %+v", seeds, tally)
	}
}

// A stopped campaign begins no further seed.
func TestCampaignsStop(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	tried := 0
	sim.Campaign{
		Trial: sim.Trial{Options: sim.Options{Pods: 2, Product: doNothing}, Faults: "none", Hours: 0.1},
		Stop:  stop, Parallel: 1,
		Tried: func(sim.TrialResult) {
			if tried++; tried == 1 {
				close(stop)
			}
		},
	}.Run() // without end, if it did not
}

// Mishaps are numbered: those that are not selected do not happen, and the first ones of the others happen
// as before.
func TestSelectedMishaps(t *testing.T) {
	t.Parallel()
	trial := sim.Trial{Options: sim.Options{Seed: 4, Pods: 6}, Faults: "api*10,cloud*10", Hours: 0.25}
	all := trial.Run().Script
	if len(all) < 3 {
		t.Fatalf("only %d mishaps", len(all))
	}
	trial.Options.Only = sim.Numbers{all[0].Number}
	if some := trial.Run().Script; !slices.Equal(some, all[:1]) {
		t.Errorf("with the first alone %v happened, want %v", some, all[:1])
	}
	trial.Options.Only = sim.Numbers{}
	if none := trial.Run().Script; len(none) > 0 {
		t.Errorf("with none %v happened", none)
	}
}

// Numbers are read as they are written.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, n := range []sim.Numbers{{}, {3}, {1, 2, 30}} {
		if read, err := sim.ParseNumbers(n.String()); err != nil || !slices.Equal(read, n) || read == nil {
			t.Errorf("%s is read as %v, %v", n, read, err)
		}
	}
	if read, err := sim.ParseNumbers(""); read != nil || err != nil {
		t.Errorf("nothing is read as %v, %v", read, err)
	}
}

// A name of faults may say how often.
func TestFaultsManyTimesAsOften(t *testing.T) {
	t.Parallel()
	one, err := sim.ParseFaults("edits,crash")
	if err != nil {
		t.Fatal(err)
	}
	ten, err := sim.ParseFaults("edits*10,crash*10")
	if err != nil {
		t.Fatal(err)
	}
	if ten.Edits*10 != one.Edits || ten.Crashes != 10*one.Crashes || ten.Restart != one.Restart {
		t.Errorf("once is %+v, ten times %+v", one, ten)
	}
	for _, wrong := range []string{"edits*", "edits*0", "unknown", "all*x"} {
		if _, err := sim.ParseFaults(wrong); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
}
