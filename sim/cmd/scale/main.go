// Command scale runs a workload in the simulation, scales it down, and prints what its fleet costs beside
// the lower bound. The same flags give the same run. What follows "--" are flags of the product:
//
//	go run ./sim/cmd/scale -workload purchase -- --feature-gates SpotToSpotConsolidation=true
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"tenon/internal/testing/workload"
	"tenon/sim/scale"
)

func main() {
	debug.SetGCPercent(400)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errs io.Writer) int {
	var o scale.Options
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&o.Workload, "workload", "mixed", "what to run: "+strings.Join(workload.Names(), ", "))
	flags.Uint64Var(&o.Seed, "seed", 1, "that the pods and the scheduler's ties are drawn from")
	flags.Float64Var(&o.Scale, "scale", 1, "how many pods, of the workload's number")
	flags.Float64Var(&o.Share, "share", 0.3, "the share of pods that is left when it is scaled down; 1 is not to")
	flags.Int64Var(&o.Effort, "effort", 0, "how many steps the product spends on a decision; 0 is as many as it does in production")
	flags.DurationVar(&o.Quiet, "quiet", 20*time.Second, "how long nothing must change")
	flags.DurationVar(&o.Longest, "longest", 5*time.Minute, "how long each phase may take")
	flags.BoolVar(&o.Nodes, "nodes", false, "print what each node holds at the end of each phase, and why it stays")
	detail := flags.Bool("log", false, "print what happens")
	if flags.Parse(args) != nil {
		return 2
	}
	o.Arguments = flags.Args()
	o.Say = func(format string, args ...any) { fmt.Fprintf(errs, format+"\n", args...) }
	if *detail {
		o.Log = func(line string) { fmt.Fprintln(errs, line) }
	}
	result, err := scale.Run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(errs, err)
		return 1
	}
	show(out, "up", result.Up)
	if o.Share < 1 {
		show(out, "down", result.Down)
	}
	for _, v := range result.Violations {
		fmt.Fprintln(out, "violation:", v)
	}
	if len(result.Violations) > 0 {
		return 1
	}
	return 0
}

func show(out io.Writer, name string, p scale.Phase) {
	fmt.Fprintf(out, "%-4s %d pods: all run after %s for %.2f $/h (%.3f of the bound %.2f); at rest: %v, after %s, %.2f $/h (%.3f), %d nodes; %d claims, the last after %s; %d pods moved; at most %.2f $/h\n",
		name, p.Pods, p.LastBound.Round(time.Millisecond), p.First, p.First/p.Bound, p.Bound, p.AtRest, p.Rest.Round(time.Millisecond), p.Price, p.Price/p.Bound, p.Nodes, p.Claims, p.LastClaim.Round(time.Millisecond), p.Moved, p.Peak)
}
