package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"tenon/core/model"
	"tenon/internal/cost"
	"tenon/internal/opencost"
	"tenon/internal/view"
)

// costFlags are what the command line of `tenon cost` says.
type costFlags struct {
	kubeconfig, context, output string
	paid                        termFlags
	fees                        []string
	past                        pastCost
}

// costDimensions are the arguments of `tenon cost`.
var costDimensions = []struct {
	name string
	by   cost.Dimension
}{{"pool", cost.ByPool}, {"namespace", cost.ByNamespace}, {"owner", cost.ByOwner}, {"capacity-type", cost.ByCapacityType}, {"zone", cost.ByZone}, {"type", cost.ByType}}

func costDimension(args []string) (cost.Dimension, error) {
	if len(args) == 0 {
		return cost.ByPool, nil
	}
	var known []string
	for _, d := range costDimensions {
		if known = append(known, d.name); len(args) == 1 && args[0] == d.name {
			return d.by, nil
		}
	}
	return "", errors.New("write by what the cost is divided as one of " + strings.Join(known, ", "))
}

var costOutputs = []string{"table", "json", "yaml", outputPath, "opencost", "prometheus"}

func costCommand(w Env) *cobra.Command {
	var f costFlags
	cmd := &cobra.Command{
		Use:   "cost [pool|namespace|owner|capacity-type|zone|type]",
		Short: "Print what the nodes cost an hour: by pool, namespace, owner or kind of machine",
		Long: `Print what the nodes cost an hour now, divided by pool (without an argument), namespace, owner, capacity
type, zone or instance type; how much of it is for daemons and how much no pod requests; and what moves
of pods have saved. It only reads, and works on every cluster, as tenon view does, whose prices it has.

A pod's part of its node's price is the larger of its shares of cpu and memory. Daemons (pods of
DaemonSets and of kubelets) and idle room are lines of their own, so every division has the same sum.

-o opencost writes what OpenCost's allocation API answers for an hour of the present fleet, by namespace
or owner; -o prometheus writes its metrics of nodes (node_total_hourly_cost and others), for the text
file collector of node_exporter or a push gateway. The controller has sums over time in its metric
karpenter_cost_spent_total.

With --at it prints what the nodes cost an hour at a time in the past, and with --since what they have cost
since one. Both read the journal: --at the newest snapshot that is kept of that time or before, --since the
price of every decision, and snapshots to divide the sum.`,
		Example: `  tenon cost
  tenon cost namespace
  tenon cost owner -o json | jq '.lines[:5]'
  tenon cost namespace -o opencost | jq '.data[0] | map_values(.totalCost)'
  tenon cost -o prometheus > /var/lib/node_exporter/tenon.prom
  tenon cost namespace --at 2h
  tenon cost owner --since 24h --from /var/lib/tenon/journal`,
		Args: func(_ *cobra.Command, args []string) error {
			_, err := costDimension(args)
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says which cluster to look at; empty: KUBECONFIG, else ~/.kube/config, else the pod's service account")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty: the current one")
	flags.StringVarP(&f.output, "output", "o", costOutputs[0], "format: "+outputsText(costOutputs))
	f.paid.flags(flags)
	flags.StringArrayVar(&f.fees, "fee", nil, "what is paid an hour beside the nodes as NAME=PRICE, such as \"EKS control plane=0.10\": a line of its own, which is in no other sum; may be repeated")
	flags.StringVar(&f.past.at, "at", "", "what the nodes cost an hour at this time, as RFC 3339 or as a duration before now, such as 2h")
	flags.StringVar(&f.past.since, "since", "", "what the nodes have cost since this time, as for --at")
	flags.StringVar(&f.past.from, "from", defaultJournal, journalUsage+"; for --at and --since")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		by, err := costDimension(args)
		if err != nil {
			return err
		}
		return runCost(cmd.Context(), by, f, w)
	}
	return cmd
}

func runCost(ctx context.Context, by cost.Dimension, f costFlags, w Env) error {
	if err := checkOutput(f.output, costOutputs...); err != nil {
		return err
	}
	if f.output == "opencost" && !slices.Contains(opencost.Aggregates, by) {
		return errors.New("OpenCost divides costs among pods: write tenon cost namespace or tenon cost owner")
	}
	if err := f.past.check(f.output); err != nil {
		return err
	}
	terms, err := f.paid.read()
	if err != nil {
		return err
	}
	fees, err := parseFees(f.fees)
	if err != nil {
		return err
	}
	if f.past.given() && (!terms.None() || len(fees) > 0) {
		return errors.New("--discount, --savings-plan, --price-file and --fee are about present prices: leave them out with --at and --since")
	}
	if f.past.given() {
		return runPastCost(ctx, by, f.past, f.output, w, time.Now())
	}
	config, title, err := cluster(f.kubeconfig, f.context, w)
	if err != nil {
		return err
	}
	following, err := follow(ctx, config, w)
	if err != nil {
		return err
	}
	defer following.stop()
	following.State.SetTerms(terms)
	fleet := following.State.Fleet()
	for _, problem := range following.Problems() {
		fmt.Fprintf(w.Err, "note: %s\n", problem)
	}
	switch f.output {
	case "opencost":
		return encodedIndented(w.Out, opencost.Allocations(fleet, title, by, time.Now()))
	case "prometheus":
		return opencost.WriteMetrics(w.Out, fleet)
	}
	out := costOf(fleet, by)
	out.Fees = fees
	return writeDocument(w.Out, f.output, out, out.write)
}

// writeDocument writes a document in the format that is asked for; table writes it for people.
func writeDocument(to io.Writer, output string, document any, table func(io.Writer) error) error {
	if template, found := strings.CutPrefix(output, outputPath); found {
		return writeTemplate(to, template, document)
	}
	switch output {
	case "json":
		return encodedIndented(to, document)
	case "yaml":
		text, err := yaml.Marshal(document)
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
		_, err = to.Write(text)
		return err
	}
	return table(to)
}

func encodedIndented(to io.Writer, value any) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// costs are what `tenon cost` prints.
type costs struct {
	// Currency of the prices, as ISO 4217 has it; empty if it is not known.
	Currency string `json:"currency,omitempty"`
	// At and Decision identify the recorded decision whose snapshot this is from; both are empty of the present fleet.
	At       string         `json:"at,omitempty"`
	Decision int64          `json:"decision,omitempty"`
	By       cost.Dimension `json:"by"`
	Nodes    int            `json:"nodes"`
	Price    float64        `json:"pricePerHour"`
	Pods     float64        `json:"podsPerHour"`
	Daemons  float64        `json:"daemonsPerHour"`
	Idle     float64        `json:"idlePerHour"`
	// Discounts names what is paid less than known prices.
	Discounts string `json:"discounts,omitempty"`
	// Unpriced nodes are missing from the prices.
	Unpriced int          `json:"unpricedNodes"`
	Savings  costSavings  `json:"savings"`
	Lines    []costInLine `json:"lines"`
	// Fees are paid beside the nodes, and are in none of the sums.
	Fees []costFee `json:"fees,omitempty"`
}

// costFee is what is paid beside the nodes, such as for the control plane.
type costFee struct {
	Name  string  `json:"name"`
	Price float64 `json:"pricePerHour"`
}

func parseFees(texts []string) ([]costFee, error) {
	var out []costFee
	for _, text := range texts {
		name, amount, _ := strings.Cut(text, "=")
		price, err := model.ParsePrice(strings.TrimSpace(amount))
		if err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("--fee: %q is no fee; write NAME=PRICE, such as \"EKS control plane=0.10\"", text)
		}
		out = append(out, costFee{strings.TrimSpace(name), price.Float()})
	}
	return out, nil
}

// costSavings are what moves were expected to save, and what they did.
type costSavings struct {
	Moves    int64   `json:"moves"`
	Expected float64 `json:"expectedPerHour"`
	Realised float64 `json:"realisedPerHour"`
}

type costInLine struct {
	Name  string  `json:"name"`
	Count int     `json:"count"` // nodes; by namespace and owner pods
	Price float64 `json:"pricePerHour"`
	Share float64 `json:"share"` // of the whole, from 0 to 1
}

func costOf(f *view.Fleet, by cost.Dimension) costs {
	out := costs{
		Currency: f.Currency, By: by, Nodes: f.Total.Nodes, Price: f.Total.Price.Float(), Daemons: f.Total.Overhead.Float(), Idle: f.Total.Idle.Float(), Discounts: f.Discounts, Unpriced: f.Total.Unpriced,
		Pods: (f.Total.Price - f.Total.Overhead - f.Total.Idle).Float(), Lines: []costInLine{},
	}
	for _, line := range f.Cost(by) {
		in := costInLine{Name: line.Name, Count: line.Count, Price: line.Price.Float()}
		if out.Price > 0 {
			in.Share = in.Price / out.Price
		}
		out.Lines = append(out.Lines, in)
	}
	for _, p := range f.Pools {
		out.Savings.Moves += p.Savings.Moves
		out.Savings.Expected += p.Savings.Predicted.Float()
		out.Savings.Realised += p.Savings.Realised.Float()
	}
	return out
}

func (c costs) write(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	count := "NODES"
	if c.By == cost.ByNamespace || c.By == cost.ByOwner {
		count = "PODS"
	}
	unit := cmp.Or(c.Currency, "PRICE")
	if c.At != "" {
		fmt.Fprintf(w, "at %s, by decision %d\n\n", c.At, c.Decision)
	}
	fmt.Fprintf(w, "%s\t%s\t%s/HOUR\t%s/MONTH\tSHARE\n", strings.ToUpper(string(c.By)), count, unit, unit)
	for _, line := range c.Lines {
		fmt.Fprintf(w, "%s\t%d\t%.4f\t%.2f\t%.1f%%\n", line.Name, line.Count, line.Price, line.Price*view.HoursPerMonth, 100*line.Share)
	}
	fmt.Fprintf(w, "all\t\t%.4f\t%.2f\t\n", c.Price, c.Price*view.HoursPerMonth)
	sum := c.Price
	for _, fee := range c.Fees {
		sum += fee.Price
		fmt.Fprintf(w, "fee: %s\t\t%.4f\t%.2f\t\n", fee.Name, fee.Price, fee.Price*view.HoursPerMonth)
	}
	if len(c.Fees) > 0 {
		fmt.Fprintf(w, "with fees\t\t%.4f\t%.2f\t\n", sum, sum*view.HoursPerMonth)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	if c.Price > 0 {
		fmt.Fprintf(to, "\npods %.4f (%.0f%%), daemons %.4f (%.0f%%), idle %.4f (%.0f%%)\n",
			c.Pods, 100*c.Pods/c.Price, c.Daemons, 100*c.Daemons/c.Price, c.Idle, 100*c.Idle/c.Price)
	}
	if c.Discounts != "" {
		fmt.Fprintf(to, "less than known prices: %s\n", c.Discounts)
	}
	if c.Savings.Moves > 0 {
		fmt.Fprintf(to, "%d moves have saved %s an hour in all; %.4f was expected\n", c.Savings.Moves, strings.TrimSpace(fmt.Sprintf("%.4f %s", c.Savings.Realised, c.Currency)), c.Savings.Expected)
	}
	if c.Unpriced > 0 {
		fmt.Fprintf(to, "nodes without a known price, which are not in the sums: %d\n", c.Unpriced)
	}
	return nil
}
