// Command sim runs the product in a simulated cluster, from a seed, and says what it came
// to. The same flags give the same run.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"time"

	"tenon/sim"
)

func main() {
	seed := flag.Uint64("seed", 1, "the first seed")
	seeds := flag.Int("seeds", 1, "how many seeds, one after the other")
	steps := flag.Int("steps", 0, "end after so many steps; 0 is when the hours are over")
	hours := flag.Float64("hours", 1, "how long to simulate")
	pods := flag.Int("pods", 40, "about how many pods run by day")
	faults := flag.String("faults", "none", "none, all, or some of "+strings.Join(sim.FaultNames(), ","))
	rest := flag.Duration("rest", 30*time.Minute, "how long to wait for rest at the end; 0 is not to look")
	log := flag.Bool("log", false, "print what happens")
	detail := flag.Bool("detail", false, "print every step and call as well")
	small := flag.Bool("shrink", false, "look for fewer faults and a shorter time with which a seed still fails")
	profile := flag.String("cpuprofile", "", "write a profile of the run to this file")
	flag.Parse()
	parsed, err := sim.ParseFaults(*faults)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if *profile != "" {
		file, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(file)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		defer pprof.StopCPUProfile()
	}
	debug.SetGCPercent(400) // there is memory, and no pause that anybody would notice
	failed := false
	for n := range *seeds {
		o := sim.Options{Seed: *seed + uint64(n), Faults: parsed, Pods: *pods}
		if o.Detail = *detail; *log || *detail {
			o.Log = func(line string) { fmt.Println(line) }
		}
		report, err := run(o, *steps, time.Duration(*hours*float64(time.Hour)), *rest)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		bad := len(report.Violations) > 0
		failed = failed || bad
		if bad || *seeds == 1 {
			fmt.Print(report)
		}
		if bad && *small {
			fmt.Println("smaller:", sim.Shrink(sim.Trial{Options: o, Faults: *faults, Hours: *hours, Rest: *rest}))
		}
	}
	if *seeds > 1 {
		fmt.Printf("%d seeds from %d\n", *seeds, *seed)
	}
	if failed {
		pprof.StopCPUProfile() // nothing if there is none
		os.Exit(1)
	}
}

func run(o sim.Options, steps int, d, rest time.Duration) (sim.Report, error) {
	s, err := sim.New(o)
	if err != nil {
		return sim.Report{}, fmt.Errorf("seed %d: %w", o.Seed, err)
	}
	until := s.Clock.Now().Add(d)
	for s.Step(until) && (steps == 0 || s.Steps < steps) {
		continue
	}
	if rest > 0 && steps == 0 {
		s.Rest(rest)
	}
	return s.Report(), nil
}
