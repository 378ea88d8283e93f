package cli

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/view"
)

// The outputs of `tenon top`.
const (
	topTable = "table"
	topJSON  = "json"
	topYAML  = "yaml"
	topCSV   = "csv"
)

type topFlags struct {
	kubeconfig, context, output, sort string
	paid                              termFlags
}

func topCommand(w Env) *cobra.Command {
	var f topFlags
	cmd := &cobra.Command{
		Use:   "top [pools|nodes|pending]",
		Short: "Print what pools or nodes have, what pods request of it, and what it costs",
		Long: `Print once what pools (without an argument) or nodes have, how much of it pods request, what that costs
an hour, and what is idle of it; or the pods that have no node, with the reason. It only reads, and
works on every cluster, as tenon view does, whose prices it has. Prices are an hour.

A template of jsonpath is one of kubectl's: the rows are its items, with the columns of the table as fields.`,
		Example: `  tenon top
  tenon top nodes --sort price | head
  tenon top nodes -o csv > nodes.csv
  tenon top pools -o json | jq '.[] | {name, price, idle}'
  tenon top nodes -o jsonpath='{range .items[*]}{.name}{"\t"}{.price}{"\n"}{end}'
  tenon top nodes --sort idle -o name | head -3 | xargs -n 1 tenon why`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && tops[args[0]] == nil {
				return errors.New("write what to print as one of pools, nodes, pending")
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "file that says which cluster to look at; empty: KUBECONFIG, else ~/.kube/config, else the pod's service account")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig; empty: the current one")
	flags.StringVar(&f.sort, "sort", "", "column by which rows are sorted, the largest number first (default: by name)")
	flags.StringVarP(&f.output, "output", "o", topTable, "format: table, wide (with more columns), name (KIND/NAME, as kubectl has it), json, yaml, csv or jsonpath=TEMPLATE")
	f.paid.flags(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return runTop(cmd.Context(), append(args, "pools")[0], f, w)
	}
	return cmd
}

func runTop(ctx context.Context, what string, f topFlags, w Env) error {
	if err := checkOutput(f.output, topOutputs...); err != nil {
		return err
	}
	terms, err := f.paid.read()
	if err != nil {
		return err
	}
	columns := slices.Clone(tops[what])
	if f.output == outputWide {
		columns = append(columns, wides[what]...)
	}
	if f.sort != "" && !slices.ContainsFunc(columns, func(c topColumn) bool { return c.name == f.sort }) {
		return fmt.Errorf("--sort=%s is no column of %s; those are %s", f.sort, what, strings.Join(names(columns), ", "))
	}
	config, _, err := cluster(f.kubeconfig, f.context, w)
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
	if f.output == outputName {
		columns = append(columns, nameColumn)
	}
	rows := rowsOf(what, fleet, columns)
	if f.sort != "" {
		sortRows(rows, slices.Index(names(columns), f.sort))
	}
	for _, problem := range following.Problems() {
		fmt.Fprintf(w.Err, "note: %s\n", problem)
	}
	if template, found := strings.CutPrefix(f.output, outputPath); found {
		return writeTemplate(w.Out, template, map[string]any{"items": objects(columns, rows)})
	}
	switch f.output {
	case outputName:
		return writeNames(w.Out, rows)
	case topJSON:
		return writeRowsJSON(w.Out, columns, rows)
	case topYAML:
		return writeDocument(w.Out, f.output, objects(columns, rows), nil)
	case topCSV:
		return writeRowsCSV(w.Out, columns, rows)
	}
	if err := writeRowsTable(w.Out, columns, rows, fleet.Currency); err != nil || fleet.Discounts == "" || what == "pending" {
		return err
	}
	fmt.Fprintf(w.Out, "\nless than known prices: %s\n", fleet.Discounts)
	return nil
}

// topColumn is one column; of reads it from what a row is about. Values are strings, int64s and prices.
type topColumn struct {
	name string
	of   func(any) any
}

func names(columns []topColumn) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
}

// quantity is an amount of a resource.
type quantity struct {
	resource string
	value    int64
}

func (q quantity) String() string { return view.Amount(q.resource, q.value) }

// percent is a part of a hundred.
type percent int64

func poolColumn(name string, of func(*view.Pool) any) topColumn {
	return topColumn{name, func(row any) any { return of(row.(*view.Pool)) }}
}

func nodeColumn(name string, of func(*view.Node) any) topColumn {
	return topColumn{name, func(row any) any { return of(row.(*view.Node)) }}
}

func podColumn(name string, of func(*view.Pod) any) topColumn {
	return topColumn{name, func(row any) any { return of(row.(*view.Pod)) }}
}

// tops are the columns of each table.
var tops = map[string][]topColumn{
	"pools": {
		poolColumn("name", func(p *view.Pool) any { return p.Name }),
		poolColumn("nodes", func(p *view.Pool) any { return int64(p.Total.Nodes) }),
		poolColumn("ready", func(p *view.Pool) any { return int64(p.Total.Ready) }),
		poolColumn("leaving", func(p *view.Pool) any { return int64(p.Total.Leaving) }),
		poolColumn("pods", func(p *view.Pool) any { return int64(p.Total.Pods) }),
		poolColumn("cpu", func(p *view.Pool) any { return quantity{model.CPU, p.Total.Allocatable.CPU} }),
		poolColumn("cpu%", func(p *view.Pool) any { return used(p.Total.Requested, p.Total.Allocatable, model.CPU) }),
		poolColumn("memory", func(p *view.Pool) any { return quantity{model.Memory, p.Total.Allocatable.Memory} }),
		poolColumn("memory%", func(p *view.Pool) any { return used(p.Total.Requested, p.Total.Allocatable, model.Memory) }),
		poolColumn("price", func(p *view.Pool) any { return p.Total.Price }),
		poolColumn("idle", func(p *view.Pool) any { return p.Total.Idle }),
		poolColumn("unpriced", func(p *view.Pool) any { return int64(p.Total.Unpriced) }),
		poolColumn("limits", func(p *view.Pool) any { return limitText(p.Limits) }),
	},
	"nodes": {
		nodeColumn("name", func(n *view.Node) any { return n.Name }),
		nodeColumn("pool", func(n *view.Node) any { return n.Pool }),
		nodeColumn("type", func(n *view.Node) any { return n.Type }),
		nodeColumn("zone", func(n *view.Node) any { return n.Zone }),
		nodeColumn("capacity", func(n *view.Node) any { return n.CapacityType }),
		nodeColumn("pods", func(n *view.Node) any { return int64(len(n.Pods)) }),
		nodeColumn("cpu", func(n *view.Node) any { return quantity{model.CPU, n.Allocatable.CPU} }),
		nodeColumn("cpu%", func(n *view.Node) any { return used(n.Requested, n.Allocatable, model.CPU) }),
		nodeColumn("memory", func(n *view.Node) any { return quantity{model.Memory, n.Allocatable.Memory} }),
		nodeColumn("memory%", func(n *view.Node) any { return used(n.Requested, n.Allocatable, model.Memory) }),
		nodeColumn("price", func(n *view.Node) any { return priceOf(n) }),
		nodeColumn("idle", func(n *view.Node) any { return n.Idle }),
		nodeColumn("phase", func(n *view.Node) any { return string(n.Phase) }),
		nodeColumn("disruption", func(n *view.Node) any { return cmp.Or(n.Going, n.Verdict.Word) }),
	},
	"pending": {
		podColumn("namespace", func(p *view.Pod) any { return p.Namespace }),
		podColumn("name", func(p *view.Pod) any { return p.Name }),
		podColumn("owner", func(p *view.Pod) any { return p.Owner }),
		podColumn("cpu", func(p *view.Pod) any { return quantity{model.CPU, p.Requests.CPU} }),
		podColumn("memory", func(p *view.Pod) any { return quantity{model.Memory, p.Requests.Memory} }),
		podColumn("why", func(p *view.Pod) any { return p.Why }),
	},
}

func used(requested, allocatable model.Resources, resource string) percent {
	return percent(100*view.Use(requested, allocatable, resource) + 0.5)
}

// priceOf is empty where no price is known.
func priceOf(n *view.Node) any {
	if n.Source == view.Unpriced {
		return ""
	}
	return n.Price
}

func limitText(limits []model.Amount) string {
	texts := make([]string, len(limits))
	for i, l := range limits {
		texts[i] = l.Name + "=" + reason.Quantity(l.Name, l.Value)
	}
	return strings.Join(texts, " ")
}

func rowsOf(what string, fleet *view.Fleet, columns []topColumn) [][]any {
	var subjects []any
	switch what {
	case "nodes":
		for _, n := range fleet.Nodes {
			subjects = append(subjects, n)
		}
	case "pending":
		for _, p := range fleet.Pending {
			subjects = append(subjects, p)
		}
	default:
		for _, p := range fleet.Pools {
			subjects = append(subjects, p)
		}
	}
	rows := make([][]any, len(subjects))
	for i, subject := range subjects {
		for _, c := range columns {
			rows[i] = append(rows[i], c.of(subject))
		}
	}
	return rows
}

// sortRows puts the largest numbers first, texts in their order, and keeps the order of the others.
func sortRows(rows [][]any, by int) {
	slices.SortStableFunc(rows, func(a, b []any) int {
		x, y := number(a[by]), number(b[by])
		return cmp.Or(cmp.Compare(y, x), strings.Compare(fmt.Sprint(a[by]), fmt.Sprint(b[by])))
	})
}

// number is a value by which rows can be compared; texts have none.
func number(value any) float64 {
	switch v := value.(type) {
	case int64:
		return float64(v)
	case percent:
		return float64(v)
	case quantity:
		return float64(v.value)
	case model.Money:
		return v.Float()
	}
	return 0
}

func writeRowsTable(to io.Writer, columns []topColumn, rows [][]any, currency string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	titles := names(columns)
	for i, name := range titles {
		if currency != "" && (name == "price" || name == "idle") {
			titles[i] += " " + currency + "/h"
		}
	}
	fmt.Fprintln(w, strings.ToUpper(strings.Join(titles, "\t")))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, value := range row {
			cells[i] = cmp.Or(shown(value), "-")
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

func shown(value any) string {
	switch v := value.(type) {
	case percent:
		return strconv.Itoa(int(v)) + "%"
	case model.Money:
		return fmt.Sprintf("%.4f", v.Float())
	}
	return fmt.Sprint(value)
}

// plain is a value as programs read it: quantities in base units, so that they can be added up.
func plain(value any) any {
	switch v := value.(type) {
	case percent:
		return int64(v)
	case quantity:
		if v.resource == model.CPU {
			return float64(v.value) / 1000
		}
		return v.value
	case model.Money:
		return v.Float()
	case string:
		if v == "" {
			return nil
		}
	}
	return value
}

func writeRowsJSON(to io.Writer, columns []topColumn, rows [][]any) error {
	return writeJSON(to, objects(columns, rows))
}

// objects are rows as programs read them, by the names of their columns.
func objects(columns []topColumn, rows [][]any) []map[string]any {
	list := make([]map[string]any, len(rows))
	for i, row := range rows {
		list[i] = map[string]any{}
		for at, value := range row {
			list[i][columns[at].name] = plain(value)
		}
	}
	return list
}

func writeJSON(to io.Writer, value any) error {
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}

func writeRowsCSV(to io.Writer, columns []topColumn, rows [][]any) error {
	w := csv.NewWriter(to)
	lines := [][]string{names(columns)}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, value := range row {
			if v := plain(value); v != nil {
				cells[i] = fmt.Sprint(v)
			}
		}
		lines = append(lines, cells)
	}
	if err := w.WriteAll(lines); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
