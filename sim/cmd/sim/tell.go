package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"tenon/core/order"
	"tenon/sim"
)

// tell prints how a seed ended, if that is worth a line.
func tell(out io.Writer, w wishes, o sim.TrialResult) {
	if o.Err != nil {
		fmt.Fprintf(out, "FAILED %s\n%v\n", o.Trial, o.Err)
		return
	}
	if o.Failed() || w.seeds == 1 {
		fmt.Fprint(out, o.Report)
	}
	if !o.Failed() {
		return
	}
	fmt.Fprintf(out, "FAILED %s\n", o.Trial)
	if w.shrink {
		shrunk(out, sim.Shrink(o.Trial))
	}
}

// shrunk prints the flags of the shortest trial that still fails, and its script.
func shrunk(out io.Writer, t sim.Trial) {
	o := t.Run()
	fmt.Fprintf(out, "SMALLEST %s\n", t)
	for _, m := range o.Script {
		fmt.Fprintf(out, "  %s\n", m)
	}
	for _, v := range o.Violations {
		fmt.Fprintf(out, "  VIOLATION %s\n", v)
	}
}

// ruleOf returns the rule under which a seed is counted.
func ruleOf(o sim.TrialResult) string {
	if len(o.Violations) == 0 {
		return "error"
	}
	return o.Violations[0].Rule
}

// sum prints the result of a campaign.
func sum(out io.Writer, w wishes, t sim.Tally, failed map[string]int, took time.Duration) {
	speed := t.Simulated.Hours() / max(took.Seconds(), 1e-9)
	fmt.Fprintf(out, "%d seeds from %d, %d failed; %.0f simulated hours, %d steps in %s, %.1f simulated hours a second\n",
		t.Tried, w.trial.Options.Seed, t.Failed, t.Simulated.Hours(), t.Steps, took.Round(time.Second), speed)
	if t.Baselines > 0 {
		fmt.Fprintf(out, "%d seeds beside a baseline (%s): %.2f with, %.2f without, saved %.1f %%; %d were dearer\n",
			t.Baselines, w.trial.Baseline, t.Beside.Float(), t.Alone.Float(), 100*t.Saved(), t.Dearer)
		if !t.Pays() {
			fmt.Fprintln(out, "FAILED they were dearer all together")
		}
	}
	for _, rule := range order.Keys(failed) {
		fmt.Fprintf(out, "%6d broke: %s\n", failed[rule], rule)
	}
}

// pulse reports the progress of a single run now and then, and ends it at a signal.
func pulse(errs io.Writer, hours float64, stopped <-chan struct{}) func(time.Duration) bool {
	last := time.Now()
	return func(simulated time.Duration) bool {
		select {
		case <-stopped:
			fmt.Fprintf(errs, "stopped after %.1f of %g hours\n", simulated.Hours(), hours)
			return false
		default:
		}
		if now := time.Now(); now.Sub(last) >= progress {
			last = now
			fmt.Fprintf(errs, "... %.1f of %g hours\n", simulated.Hours(), hours)
		}
		return true
	}
}

// progress is the interval between reports.
const progress = 10 * time.Second

// every reports the progress of a campaign now and then, and returns a function that ends the reports.
func every(d time.Duration, out io.Writer, wanted bool, c *sim.Campaign) (end func()) {
	if !wanted {
		return func() {}
	}
	var lock sync.Mutex
	var tally sim.Tally
	tell := c.Tried
	c.Tried = func(o sim.TrialResult) {
		lock.Lock()
		defer lock.Unlock()
		tally.Add(o)
		tell(o)
	}
	done, ticker := make(chan struct{}), time.NewTicker(d)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				lock.Lock()
				fmt.Fprintf(out, "... %d seeds, %d failed, %.0f simulated hours\n", tally.Tried, tally.Failed, tally.Simulated.Hours())
				lock.Unlock()
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
	}
}
