package command

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"tenon/lab/stopwatch"
)

// newStopwatch is hidden: it serves developers of Tenon, not its users.
func newStopwatch(out io.Writer) *cobra.Command {
	var plan stopwatch.Plan
	var format string
	command := &cobra.Command{
		Use:    "stopwatch",
		Short:  "Measure Tenon in a lab of its own: from pod to claim, bursts of pods, memory and CPU",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find own program: %w", err)
			}
			plan.Program = self
			log.SetLogger(logr.Discard()) // the libraries' own lines are none of the result
			plan.Say = func(text string, args ...any) { fmt.Fprintf(command.ErrOrStderr(), text+"\n", args...) }
			// Without this an interrupted measurement would leave its lab running.
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			result, err := stopwatch.Run(ctx, plan)
			if format == "json" && err == nil {
				return printJSON(out, result)
			}
			if printed := printTimes(out, result); err == nil {
				err = printed
			}
			return err
		},
	}
	command.Flags().IntVar(&plan.Singles, "singles", 20, "how many pods to make one by one")
	command.Flags().IntSliceVar(&plan.Bursts, "bursts", []int{1000, 5000}, "how many pods to make at once")
	command.Flags().IntVar(&plan.Nodes, "nodes", 500, "how many nodes the steady state has, with ten pods each")
	command.Flags().DurationVar(&plan.Steady, "steady", 15*time.Second, "how long to look at what the controller takes")
	command.Flags().StringArrayVar(&plan.Settings, "set", nil, "setting of tenon as NAME=VALUE, such as ENABLE_PROFILING=true; may be repeated")
	command.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return command
}

func printTimes(out io.Writer, r stopwatch.Result) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "idle\t%s\t%.1f %% of one core\n", mebibytes(r.IdleRSS), 100*r.IdleCPU)
	short := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	fmt.Fprintf(table, "pod to claim, %d pods one by one\tmedian %s\tworst %s\n", r.Singles.Pods, short(r.Singles.ClaimMedian), short(r.Singles.ClaimWorst))
	fmt.Fprintf(table, "pod to CreateFleet\tmedian %s\tworst %s\n", short(r.Singles.FleetMedian), short(r.Singles.FleetWorst))
	for _, b := range r.Bursts {
		fmt.Fprintf(table, "%d pods at once\tlast pod made %s\tlast claim %s\tlast bound %s\t%d claims, %.0f pods each\t%s\n",
			b.Pods, short(b.Made), short(b.Claimed), short(b.Bound), b.Claims, b.PodsPerClaim, mebibytes(b.ResidentBytes))
	}
	if r.Steady.Nodes > 0 {
		fmt.Fprintf(table, "steady, %d nodes and %d pods\t%s\t%.1f %% of one core\n", r.Steady.Nodes, r.Steady.Pods, mebibytes(r.Steady.ResidentBytes), 100*r.Steady.Cores)
	}
	return table.Flush()
}
