package command

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"tenon/internal/testing/workload"
	"tenon/lab/stopwatch"
)

func newLive(out io.Writer) *cobra.Command {
	plan := stopwatch.LivePlan{}
	var format string
	command := &cobra.Command{
		Use:   "live",
		Short: "Run a workload in a lab of its own and compare the fleet with what tenon plan proves",
		Long: `live starts a lab with Tenon and an emulated AWS, makes a workload's pods all at once, waits
until nothing changes any more, scales the workload down, and waits again. For both it tells
what the fleet costs beside the lower bound that tenon plan proves for the same pods, how
long it took, and how many pods the scheduler put where they were planned.`,
		Example: "  tenon-lab live --workload mixed\n  tenon-lab live --workload inflate --scale 0.2 -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find own program: %w", err)
			}
			plan.Program = self
			log.SetLogger(logr.Discard()) // the libraries' log lines are not part of the result
			plan.Say = func(text string, args ...any) { fmt.Fprintf(command.ErrOrStderr(), text+"\n", args...) }
			// Without this an interrupted measurement would leave its lab running.
			ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			result, err := stopwatch.Live(ctx, plan)
			if err != nil {
				return err
			}
			if format == "json" {
				return printJSON(out, result)
			}
			return printLive(out, result)
		},
	}
	flags := command.Flags()
	flags.StringVar(&plan.Workload, "workload", "mixed", "what to run: "+strings.Join(workload.Names(), ", "))
	flags.Uint64Var(&plan.Seed, "seed", 1, "of the requests that mixed draws")
	flags.Float64Var(&plan.Scale, "scale", 1, "multiplies the number of pods")
	flags.Float64Var(&plan.Share, "share", 0.3, "of the pods that are left after scaling down; 1 does not scale down")
	flags.DurationVar(&plan.Quiet, "quiet", 30*time.Second, "how long nothing changes at rest")
	flags.DurationVar(&plan.Longest, "longest", 15*time.Minute, "how long to wait for rest")
	flags.StringVar(&plan.Log, "log", "", "file that gets tenon's log")
	flags.StringArrayVar(&plan.Settings, "set", nil, "setting of tenon as NAME=VALUE, such as NOMINATE_PODS=false; may be repeated")
	flags.StringVarP(&format, "output", "o", "text", "text or json")
	return command
}

func printLive(out io.Writer, r stopwatch.LiveResult) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	short := func(d time.Duration) string { return d.Round(100 * time.Millisecond).String() }
	fmt.Fprintln(table, "\tpods\tbound\twhen all run\tratio\tat rest\tratio\tplanned\tpeak\tnodes\tplanned\tclaims\tin all\tlast pod\tlast claim\tall run\trest\tmoved\tlanded\tstrayed\tmoves landed\tstrayed\tnominations\tcalls\tCPU\tmemory\t")
	for _, row := range []struct {
		name string
		p    stopwatch.Phase
	}{{"up", r.Up}, {"down", r.Down}} {
		p := row.p
		if p.Pods == 0 {
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%.2f\t%.2f\t%.3f\t%.2f\t%.3f\t%.2f\t%.2f\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t\n",
			row.name, p.Pods, p.Bound, p.First, p.FirstRatio, p.Price, p.Ratio, p.Planned, p.Peak, p.Nodes, p.PlannedNodes, p.FirstClaims, p.Claims,
			short(p.Made), short(p.LastClaim), short(p.LastBound), short(p.Rest), p.Moved, p.Landed, p.Strayed, p.MovesLanded, p.MovesStrayed, p.Nominated, p.Called, short(p.CPU), mebibytes(p.Resident))
	}
	return table.Flush()
}
