package command

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tenon/lab/measure"
)

// newMeasure is hidden: it serves developers of the lab, not its users.
func newMeasure(out io.Writer) *cobra.Command {
	var plan measure.Plan
	var format string
	command := &cobra.Command{
		Use:    "measure",
		Short:  "Measure a lab of its own: start, memory, idle CPU, binding of many pods",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find own program: %w", err)
			}
			plan.Program = self
			plan.Say = func(text string, args ...any) { fmt.Fprintf(command.ErrOrStderr(), text+"\n", args...) }
			result, err := measure.Run(command.Context(), plan)
			if err != nil {
				return err
			}
			if format == "json" {
				return printJSON(out, result)
			}
			return printResult(out, plan, result)
		},
	}
	command.Flags().DurationVar(&plan.Idle, "idle", 30*time.Second, "how long to look at the idle lab")
	command.Flags().IntVar(&plan.Nodes, "nodes", 200, "how many nodes to add")
	command.Flags().IntVar(&plan.Pods, "pods", 5000, "how many pods to run")
	command.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return command
}

func printResult(out io.Writer, plan measure.Plan, r measure.Result) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintf(table, "start\t%.1f s\n", r.StartSeconds)
	fmt.Fprintf(table, "idle\t%s\t%.1f %% of one core\n", mebibytes(r.IdleResidentBytes), 100*r.IdleCores)
	for _, name := range slices.Sorted(maps.Keys(r.ByComponent)) {
		share := r.ByComponent[name]
		fmt.Fprintf(table, "  %s\t%s\t%.1f %%\n", name, mebibytes(share.ResidentBytes), 100*share.Cores)
	}
	fmt.Fprintf(table, "%d nodes ready\t%.1f s\n", plan.Nodes, r.NodesReadySeconds)
	fmt.Fprintf(table, "%d pods bound\t%.1f s\n", plan.Pods, r.PodsBoundSeconds)
	fmt.Fprintf(table, "%d pods running\t%.1f s\n", plan.Pods, r.PodsRunningSeconds)
	fmt.Fprintf(table, "at rest with them\t%s\t%.1f %% of one core\n", mebibytes(r.LoadedResidentBytes), 100*r.LoadedCores)
	fmt.Fprintf(table, "stop\t%.1f s\n", r.StopSeconds)
	return table.Flush()
}
