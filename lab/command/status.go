package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tenon/lab/process"
	"tenon/lab/state"
)

// Status is what `status -o json` prints.
type Status struct {
	Running bool `json:"running"`
	state.Record
	// ResidentBytes is the memory of the supervisor and all components. Pages of the program that they
	// share are counted for each.
	ResidentBytes int64 `json:"residentBytes"`
}

func newStatus(path *string, out io.Writer) *cobra.Command {
	var format string
	command := &cobra.Command{
		Use:   "status",
		Short: "Say what runs: components, processes, ports, memory",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if format != "text" && format != "json" {
				return fmt.Errorf("output %q is not known; choose text or json", format)
			}
			_, record, err := runningLab(*path)
			if err != nil {
				return err
			}
			status := measureStatus(record)
			if format == "json" {
				return printJSON(out, status)
			}
			return printStatus(out, status, time.Now())
		},
	}
	command.Flags().StringVarP(&format, "output", "o", "text", "text or json")
	return command
}

// measureStatus adds what each process uses now. A process that has just ended uses nothing.
func measureStatus(record state.Record) Status {
	status := Status{Running: true, Record: record}
	for i, component := range record.Components {
		usage, _ := process.Measure(component.Pid)
		status.Components[i].ResidentBytes = usage.ResidentBytes
		status.ResidentBytes += usage.ResidentBytes
	}
	usage, _ := process.Measure(record.Pid)
	status.ResidentBytes += usage.ResidentBytes
	return status
}

func printJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func printStatus(out io.Writer, status Status, now time.Time) error {
	ready := "starting"
	if status.Ready {
		ready = "ready"
	}
	fmt.Fprintf(out, "lab in %s: %s, API server at %s\n\n", status.Directory, ready, status.Server)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tSTATE\tPID\tSINCE\tRESTARTS\tPORTS\tMEMORY")
	own := status.ResidentBytes
	for _, component := range status.Components {
		own -= component.ResidentBytes
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%d\t%s\t%s\n", component.Name, component.State, component.Pid,
			age(component.Started, now), component.Restarts, ports(component.Ports), mebibytes(component.ResidentBytes))
	}
	fmt.Fprintf(table, "supervisor\tready\t%d\t%s\t0\t-\t%s\n", status.Pid, age(status.Started, now), mebibytes(own))
	fmt.Fprintf(table, "\t\t\t\t\t\t%s\n", mebibytes(status.ResidentBytes))
	return errors.Join(table.Flush())
}

func ports(all []state.Port) string {
	if len(all) == 0 {
		return "-"
	}
	var texts []string
	for _, port := range all {
		texts = append(texts, fmt.Sprintf("%d/%s", port.Number, port.Name))
	}
	return strings.Join(texts, ",")
}

func age(since, now time.Time) string { return now.Sub(since).Truncate(time.Second).String() }

func mebibytes(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }
