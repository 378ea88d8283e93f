package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"tenon/internal/journal"
	"tenon/internal/shadow"
)

func shadowCommand(w Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shadow",
		Short: "Compare Tenon with the autoscaler that runs, without changing anything",
		Long: `Compare Tenon with the autoscaler that runs, without changing anything. A controller with
--mode=shadow decides beside it and writes only a Lease of its own; the report says
what each of the two did, or would have done.`,
		Example: `  tenon controller --mode=shadow --leader-election-namespace kube-system
  tenon shadow report`,
		Args: knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(shadowReportCommand(w))
	return cmd
}

// shadowTimeout is how long the controller may take to answer.
const shadowTimeout = 10 * time.Second

func shadowReportCommand(w Env) *cobra.Command {
	var url, from, output string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Say what Tenon would have done, and the difference",
		Long: `Say what Tenon would have done since the controller in shadow mode started, and the
difference in nodes, money, evictions and waiting time. The report is asked from the port
of the controller's metrics; forward it from a cluster with kubectl port-forward. Only the
replica that holds the Lease has one. With --journal it is read from a journal of that
controller, which need not run then.

Exit status: 0; 1 when the controller does not answer, or is not in shadow mode, or when the
journal has no report.`,
		Example: `  kubectl port-forward -n kube-system deploy/tenon 8080 &
  tenon shadow report
  tenon shadow report --url http://127.0.0.1:9090 -o json | jq '.tenon.costMicros'`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ask := func(ctx context.Context) (shadow.Report, error) { return askShadow(ctx, url) }
			if from != "" {
				ask = func(ctx context.Context) (shadow.Report, error) {
					return recordedShadow(ctx, readJournal(w, from), from)
				}
			}
			report, err := ask(cmd.Context())
			if err != nil {
				return err
			}
			return writeShadow(w.Out, output, report)
		},
	}
	cmd.Flags().StringVar(&url, "url", "http://127.0.0.1:8080", "where the controller serves its metrics")
	cmd.Flags().StringVar(&from, "journal", "", "read the report from a "+journalUsage)
	cmd.MarkFlagsMutuallyExclusive("url", "journal")
	cmd.Flags().StringVarP(&output, "output", "o", "text", "format: text, json or yaml")
	return cmd
}

func recordedShadow(ctx context.Context, source journal.Source, from string) (shadow.Report, error) {
	report, err := journal.Comparison(ctx, source)
	if err == nil && report.Looks == 0 {
		err = fmt.Errorf("%s has no report: a controller with --mode=shadow records one", from)
	}
	return report, err
}

func askShadow(ctx context.Context, url string) (shadow.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, shadowTimeout)
	defer cancel()
	url = strings.TrimSuffix(url, "/") + "/shadow"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return shadow.Report{}, fmt.Errorf("ask for the report: %w; set --url to where the controller serves its metrics", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return shadow.Report{}, fmt.Errorf("ask for the report: %w; forward the port with kubectl port-forward, or set --url", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return shadow.Report{}, fmt.Errorf("%s answers %s; does a controller with --mode=shadow serve there?", url, answer.Status)
	}
	var report shadow.Report
	if err := json.NewDecoder(answer.Body).Decode(&report); err != nil {
		return shadow.Report{}, fmt.Errorf("read the report of %s: %w", url, err)
	}
	return report, nil
}

func writeShadow(out io.Writer, format string, r shadow.Report) error {
	switch format {
	case "json":
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	case "yaml":
		text, err := yaml.Marshal(r)
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		_, err = out.Write(text)
		return err
	case "text":
		return shadowText(out, r)
	}
	return fmt.Errorf("unknown output format %q; use text, json or yaml", format)
}

func shadowText(out io.Writer, r shadow.Report) error {
	if r.Looks == 0 {
		_, err := fmt.Fprintln(out, "Nothing was compared yet: the controller is starting, or stands by for the one that holds the Lease.")
		return err
	}
	fmt.Fprintf(out, "Since %s (%s), %d looks\n\n", r.Since.Format(time.RFC3339), r.At.Sub(r.Since).Round(time.Second), r.Looks)
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', tabwriter.AlignRight)
	a, b := r.Incumbent, r.Tenon
	for _, row := range [][3]string{
		{"", "incumbent", "Tenon"},
		{"nodes now", fmt.Sprint(a.Nodes), fmt.Sprint(b.Nodes)},
		{"price an hour", dollars(a.PriceMicros), dollars(b.PriceMicros)},
		{"cost so far", dollars(a.CostMicros), dollars(b.CostMicros)},
		{"nodes bought", thousandths(a.BoughtMilli), thousandths(b.BoughtMilli)},
		{"their price an hour", dollars(a.BoughtPriceMicros), dollars(b.BoughtPriceMicros)},
		{"nodes given up", fmt.Sprint(a.GivenUp), fmt.Sprint(b.GivenUp)},
		{"pods moved", fmt.Sprint(a.Evictions), fmt.Sprint(b.Evictions)},
		{"mean wait of pods", mean(a.WaitedMillis, r.Pods), mean(b.WaitedMillis, r.Pods)},
	} {
		fmt.Fprintf(table, "%s\t%s\t%s\t\n", row[0], row[1], row[2])
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d pods waited for a node and got one; %d wait, %d of them without a place in the plan.\n", r.Pods, r.Pending, r.Unplanned)
	fmt.Fprintln(out, "Waiting is until the pod was bound (incumbent), and until Tenon had decided: a machine's boot comes on top of the latter.")
	if len(r.Latest) > 0 {
		fmt.Fprintln(out, "\nLatest")
	}
	for _, line := range r.Latest {
		fmt.Fprintf(out, "  %s %s\n", line.At.Format(time.TimeOnly), line.Text)
	}
	return nil
}

func dollars(micros int64) string { return fmt.Sprintf("%.4f", float64(micros)/1e6) }

func thousandths(milli int64) string { return fmt.Sprintf("%.1f", float64(milli)/1000) }

func mean(millis int64, of int) string {
	if of == 0 {
		return "-"
	}
	return (time.Duration(millis/int64(of)) * time.Millisecond).Round(100 * time.Millisecond).String()
}
