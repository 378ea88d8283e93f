// Command sim runs the product in a simulated cluster from a seed, and prints the result. The same flags
// give the same run.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"tenon/sim"
)

// main holds memory that it never touches: small runs keep little memory alive, so the garbage
// collector would run all the time.
func main() {
	debug.SetGCPercent(400) // memory is plentiful, and pauses do not matter
	debug.SetMemoryLimit(1 << 30)
	ballast := make([]byte, 128<<20)
	code := run(os.Args[1:], os.Stdout, os.Stderr)
	runtime.KeepAlive(ballast)
	os.Exit(code)
}

// wishes are the values of the flags.
type wishes struct {
	trial    sim.Trial
	seeds    int
	vary     bool
	parallel int
	failures int
	limit    time.Duration
	log      bool
	shrink   bool
	profile  string
	memory   string
}

func read(args []string, errs io.Writer) (wishes, error) {
	var w wishes
	t := &w.trial
	flags := flag.NewFlagSet("sim", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Uint64Var(&t.Options.Seed, "seed", 1, "the first seed")
	flags.IntVar(&w.seeds, "seeds", 1, "how many seeds; 0 is until told to stop")
	flags.BoolVar(&w.vary, "vary", false, "have size and kinds of faults of each seed follow from the seed")
	flags.IntVar(&w.parallel, "parallel", runtime.NumCPU(), "how many seeds at a time")
	flags.IntVar(&w.failures, "failures", 0, "end after so many seeds that fail; 0 is not to")
	flags.DurationVar(&w.limit, "for", 0, "begin no further seed after this time; 0 is no end")
	flags.IntVar(&t.Steps, "steps", 0, "end a run after so many steps; 0 is when the hours are over")
	flags.Float64Var(&t.Hours, "hours", 1, "how long to simulate")
	flags.IntVar(&t.Options.Pods, "pods", 40, "about how many pods run by day")
	flags.IntVar(&t.Options.Limit, "limit", 0, "how many cores the pool may have; 0 is without limit")
	flags.StringVar(&t.Options.Totals, "totals", "", "limits on all nodes, as in max-nodes-total=6,cores-total=4:40")
	flags.BoolVar(&t.Options.OnDemand, "on-demand", false, "have the pool buy no spot machines")
	flags.BoolVar(&t.Options.Groups, "groups", false, "give the cloud groups of instances, other writers of their sizes, and shortages of them")
	flags.BoolVar(&t.Options.Buffers, "buffers", false, "have users ask for room that is kept free (CapacityBuffer)")
	flags.Int64Var(&t.Options.Effort, "effort", sim.UsualEffort, "how many steps the product spends on a decision; 0 is as many as it does in production")
	flags.DurationVar(&t.Options.Pause, "pause", 0, "the least time between two evaluations of the fleet, if longer than the product's")
	flags.StringVar(&t.Faults, "faults", "none", "none, all, or some of "+strings.Join(sim.FaultNames(), ","))
	flags.DurationVar(&t.Rest, "rest", 30*time.Minute, "how long to wait for rest at the end; 0 is not to look")
	flags.StringVar(&t.Baseline, "baseline", "", "run a second time beside it, in which nothing goes (alone) or empty nodes only (empties), and compare prices")
	flags.StringVar(&t.Rule, "rule", "", "count violations of this rule only")
	only := flags.String("only", "", "numbers of the mishaps that happen, or none; empty is all")
	flags.BoolVar(&w.log, "log", false, "print what happens")
	flags.BoolVar(&t.Options.Detail, "detail", false, "print every step and call as well")
	flags.BoolVar(&w.shrink, "shrink", false, "look for a shorter script with which a seed still fails")
	flags.StringVar(&w.profile, "cpuprofile", "", "write a profile of the run to this file")
	flags.StringVar(&w.memory, "memprofile", "", "write what is in memory to this file, every ten seconds")
	if err := flags.Parse(args); err != nil {
		return w, err
	}
	if _, err := sim.ParseFaults(t.Faults); err != nil {
		fmt.Fprintln(errs, err)
		return w, err
	}
	var err error
	if t.Options.Only, err = sim.ParseNumbers(*only); err != nil {
		fmt.Fprintln(errs, err)
	}
	return w, err
}

func run(args []string, out, errs io.Writer) int {
	w, err := read(args, errs)
	if err != nil {
		return 2
	}
	end, err := w.measure()
	if err != nil {
		fmt.Fprintln(errs, err)
		return 2
	}
	defer end()
	if w.log || w.trial.Options.Detail {
		w.trial.Options.Log = func(line string) { fmt.Fprintln(out, line) }
		w.parallel = 1
	}
	began := time.Now()
	stopped := stop(w.limit)
	if w.seeds == 1 {
		w.trial.Pulse = pulse(errs, w.trial.Hours, stopped)
	}
	c := sim.Campaign{
		Trial: w.trial, Seeds: w.seeds, Vary: w.vary, Parallel: w.parallel, Failures: w.failures, Stop: stopped,
	}
	failed := map[string]int{}
	c.Tried = func(o sim.TrialResult) {
		tell(out, w, o)
		if o.Failed() {
			failed[ruleOf(o)]++
		}
	}
	settle := every(progress, out, w.seeds != 1, &c)
	tally := c.Run()
	settle()
	if w.seeds != 1 {
		sum(out, w, tally, failed, time.Since(began))
	}
	if tally.Failed > 0 || w.seeds != 1 && !tally.Pays() {
		return 1
	}
	return 0
}

// stop is closed when the time is over, or at the first signal. The second signal ends the program at once.
func stop(limit time.Duration) <-chan struct{} {
	stop := make(chan struct{})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	var over <-chan time.Time
	if limit > 0 {
		over = time.After(limit)
	}
	go func() {
		select {
		case <-signals:
			signal.Stop(signals)
		case <-over:
		}
		close(stop)
	}()
	return stop
}
