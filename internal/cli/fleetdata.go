package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tenon/core/model"
	"tenon/internal/view"
	"tenon/internal/view/watch"
	"tenon/internal/viewer"
)

// viewProm is the text format of Prometheus, for the textfile collector of its node exporter.
const viewProm = "prom"

var viewOutputs = []string{topTable, outputName, topJSON, topYAML, topCSV, viewProm, outputPath}

// fleetVersion is the version of the JSON that `tenon view -o json` prints. It rises when a field
// goes or changes its meaning.
const fleetVersion = 1

// writeFleet prints the fleet once for programs.
func writeFleet(w Env, output string, o viewer.Options, watched *watch.Watch) error {
	fleet := watched.State.Fleet()
	if o.Where != nil {
		fleet = fleet.Where(o.Where)
	}
	for _, problem := range watched.Problems() {
		fmt.Fprintf(w.Err, "note: %s\n", problem)
	}
	nodes := fleetColumns("nodes", o)
	switch output {
	case topCSV:
		return writeRowsCSV(w.Out, nodes, rowsOf("nodes", fleet, nodes))
	case viewProm:
		return writeProm(w.Out, fleet, o.NoPrices)
	case outputName:
		return writeNames(w.Out, rowsOf("nodes", fleet, []topColumn{nameColumn}))
	}
	all := map[string]any{"version": fleetVersion, "cluster": o.Title, "currency": fleet.Currency}
	for what := range tops {
		columns := fleetColumns(what, o)
		all[what] = objects(columns, rowsOf(what, fleet, columns))
	}
	return writeDocument(w.Out, output, all, nil)
}

// fleetColumns are those of `tenon top`, with the labels that are asked for and without prices where they are off.
func fleetColumns(what string, o viewer.Options) []topColumn {
	columns := slices.Clone(tops[what])
	if o.NoPrices {
		columns = slices.DeleteFunc(columns, func(c topColumn) bool { return slices.Contains([]string{"price", "idle", "unpriced"}, c.name) })
	}
	if what == "nodes" {
		for _, label := range o.Labels {
			columns = append(columns, nodeColumn(label, func(n *view.Node) any { return n.Labels[label] }))
		}
	}
	return columns
}

// nodeGauge is a figure of each node; of reports whether it is known.
type nodeGauge struct {
	name, help string
	price      bool
	of         func(*view.Node) (float64, bool)
}

func resourceGauge(name, help string, of func(*view.Node) model.Resources, read func(model.Resources) float64) nodeGauge {
	return nodeGauge{name: name, help: help, of: func(n *view.Node) (float64, bool) { return read(of(n)), true }}
}

func coresOf(r model.Resources) float64  { return float64(r.CPU) / 1000 }
func memoryOf(r model.Resources) float64 { return float64(r.Memory) }

func requestedOf(n *view.Node) model.Resources   { return n.Requested }
func allocatableOf(n *view.Node) model.Resources { return n.Allocatable }

var nodeGauges = []nodeGauge{
	{"tenon_view_node_pods", "Pods on the node.", false, func(n *view.Node) (float64, bool) { return float64(len(n.Pods)), true }},
	resourceGauge("tenon_view_node_requested_cpu_cores", "CPU that pods on the node request.", requestedOf, coresOf),
	resourceGauge("tenon_view_node_allocatable_cpu_cores", "CPU of the node that pods may request.", allocatableOf, coresOf),
	resourceGauge("tenon_view_node_requested_memory_bytes", "Memory that pods on the node request.", requestedOf, memoryOf),
	resourceGauge("tenon_view_node_allocatable_memory_bytes", "Memory of the node that pods may request.", allocatableOf, memoryOf),
	{"tenon_view_node_price_per_hour", "Price of the node an hour. A node without a known price has none.", true, func(n *view.Node) (float64, bool) { return n.Price.Float(), n.Source != view.Unpriced }},
	{"tenon_view_node_idle_price_per_hour", "Part of the price that no pod's requests account for.", true, func(n *view.Node) (float64, bool) { return n.Idle.Float(), n.Source != view.Unpriced }},
}

// labelText escapes the value of a label as Prometheus' text format asks.
var labelText = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func writeProm(to io.Writer, fleet *view.Fleet, noPrices bool) error {
	var out strings.Builder
	for _, g := range nodeGauges {
		if g.price && noPrices {
			continue
		}
		fmt.Fprintf(&out, "# HELP %s %s\n# TYPE %s gauge\n", g.name, g.help, g.name)
		for _, n := range fleet.Nodes {
			if value, known := g.of(n); known {
				fmt.Fprintf(&out, "%s{node=\"%s\",pool=\"%s\",type=\"%s\",zone=\"%s\",capacity=\"%s\"} %v\n", g.name, labelText.Replace(n.Name),
					labelText.Replace(n.Pool), labelText.Replace(n.Type), labelText.Replace(n.Zone), labelText.Replace(n.CapacityType), value)
			}
		}
	}
	fmt.Fprintf(&out, "# HELP tenon_view_pending_pods Pods that have no node.\n# TYPE tenon_view_pending_pods gauge\ntenon_view_pending_pods %d\n", len(fleet.Pending))
	if _, err := io.WriteString(to, out.String()); err != nil {
		return fmt.Errorf("write the metrics: %w", err)
	}
	return nil
}
