package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tenon/sim"
)

func everything(t *testing.T) sim.Faults {
	t.Helper()
	faults, err := sim.ParseFaults("all")
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

// run simulates some time and then waits for rest.
func run(t *testing.T, o sim.Options, d time.Duration) (sim.Report, []string) {
	t.Helper()
	var log []string
	o.Log = func(line string) { log = append(log, line) }
	s, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Run(d)
	s.Rest(40 * time.Minute)
	return s.Report(), log
}

// alone skips, with -short, a test in which one goroutine simulates for long: make race says -short, and the race detector has
// nothing to find there that shorter runs do not show it.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine simulates for long")
	}
}

// The same seed gives the same run, byte for byte; another seed gives another.
func TestASeedIsARun(t *testing.T) {
	t.Parallel()
	o, during := sim.Options{Seed: 7, Faults: everything(t), Pods: 20}, 2*time.Hour
	if testing.Short() {
		o.Pods, during = 8, 30*time.Minute
	}
	first, log := run(t, o, during)
	second, again := run(t, o, during)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("reports (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(log, again); diff != "" {
		t.Errorf("logs (-first +second):\n%s", diff)
	}
	o.Seed++
	if other, _ := run(t, o, during); other.Trace == first.Trace {
		t.Error("another seed is the same run")
	}
}

// Without faults half a day breaks no rule.
func TestAQuietHalfDay(t *testing.T) {
	t.Parallel()
	alone(t)
	report, _ := run(t, sim.Options{Seed: 1, Pods: 20}, 12*time.Hour)
	if len(report.Violations) > 0 {
		t.Errorf("violations: %s", strings.Join(report.Violations, "\n"))
	}
	if report.Launches == 0 || report.Price == 0 || report.Crashes != 0 {
		t.Errorf("this is no half day: %s", report)
	}
}

// With every fault, no rule is broken.
func TestSeedsWithEveryFault(t *testing.T) {
	t.Parallel()
	seeds := 8
	if testing.Short() {
		seeds = 1
	}
	for seed := range uint64(seeds) {
		report, _ := run(t, sim.Options{Seed: seed, Faults: everything(t), Pods: 15}, time.Hour)
		if len(report.Violations) > 0 {
			t.Errorf("%s", report)
		}
	}
}

// Without faults and spot machines, much can be saved all the time, and decisions last. With these seeds
// they once did not.
func TestDecisionsLast(t *testing.T) {
	t.Parallel()
	alone(t)
	for _, seed := range []uint64{109, 142} {
		report, _ := run(t, sim.Options{Seed: seed, Pods: 14, OnDemand: true}, 3*time.Hour)
		if len(report.Violations) > 0 {
			t.Errorf("%s", report)
		}
	}
}
