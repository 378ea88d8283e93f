// Command fleets measures how decisions improve half-used fleets: give it a catalogue and the
// files of the fleets, in the forms that bench/README.md describes.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"tenon/bench/corpus"
	"tenon/bench/fleet"
	"tenon/core/snapshot"
	"tenon/internal/testing/apply"
)

func main() {
	catalogue := flag.String("catalog", "", "file of offers")
	pause := flag.Duration("pause", time.Minute, "between two decisions")
	hours := flag.Int("watch", 0, "decide for so many more hours once it has settled")
	budget := flag.Int("budget", 0, "nodes of a pool that may be disrupted at a time; 0 is what the input says")
	rounds := flag.Int("rounds", 20, "at most so many decisions")
	profile := flag.String("cpuprofile", "", "file to write a profile to")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "fleets:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	for _, file := range flag.Args() {
		s, err := read(file, *catalogue)
		if err != nil {
			fmt.Fprintln(os.Stderr, "fleets:", err)
			os.Exit(1)
		}
		for i := range s.Pools {
			if *budget > 0 {
				s.Pools[i].Consolidation.Allowed = snapshot.Allowance{Empty: *budget, Drifted: *budget, Underutilized: *budget}
			}
		}
		fmt.Printf("%s: %d nodes, %d pods, $%.2f/h\n", file, len(s.Nodes), len(s.Pods), apply.Price(s))
		list, twice, end := fleet.Settle(s, *pause, *rounds)
		var took time.Duration
		evictions := 0
		for i, r := range list {
			took += r.Took
			evictions += r.Evictions
			fmt.Printf("  round %d: %v (cpu %v), %d disruptions, %d nodes go, %d come, %d evictions, $%.2f/h\n", i, r.Took.Round(time.Millisecond), r.CPU.Round(time.Millisecond), r.Disruptions, r.Removed, r.Bought, r.Evictions, r.Price)
		}
		fmt.Printf("  settled at $%.3f/h on %d nodes, %d evictions, %d pods moved twice, decisions took %v\n", apply.Price(end), len(end.Nodes), evictions, twice, took.Round(time.Millisecond))
		if *hours > 0 {
			fmt.Printf("  %d evictions in the next %d hours\n", fleet.Watch(end, *hours), *hours)
		}
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		fmt.Printf("  heap taken from the system %d MiB\n", stats.HeapSys>>20)
	}
}

// read takes a file, or a made-up cluster as nodes/pools/pods.
func read(name, catalogue string) (*snapshot.Snapshot, error) {
	var nodes, pools, pods int
	if n, err := fmt.Sscanf(name, "%d/%d/%d", &nodes, &pools, &pods); n == 3 && err == nil {
		return fleet.Of(corpus.Half(nodes, pools, pods)), nil
	}
	return fleet.Read(name, catalogue)
}
