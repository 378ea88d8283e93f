package opencost

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/view"
)

// metric is one of OpenCost's metrics of nodes.
type metric struct {
	name, help string
	value      func(*view.Node) float64
}

var metrics = []metric{
	{"node_total_hourly_cost", "What the node costs an hour.", func(n *view.Node) float64 { return hourlyOf(n).total }},
	{"node_cpu_hourly_cost", "What a core of the node costs an hour.", func(n *view.Node) float64 { return hourlyOf(n).core }},
	{"node_ram_hourly_cost", "What a GiB of memory of the node costs an hour.", func(n *view.Node) float64 { return hourlyOf(n).gib }},
	{"kubecost_node_is_spot", "1 for a spot machine.", func(n *view.Node) float64 {
		if n.CapacityType == karpenterv1.CapacityTypeSpot {
			return 1
		}
		return 0
	}},
}

// WriteMetrics writes the metrics of all nodes that have a price, in Prometheus' text format.
func WriteMetrics(to io.Writer, f *view.Fleet) error {
	w := bufio.NewWriter(to)
	for _, m := range metrics {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n", m.name, m.help, m.name)
		for _, n := range f.Nodes {
			if n.Source == view.Unpriced {
				continue
			}
			fmt.Fprintf(w, "%s{instance=%s,node=%s,instance_type=%s,region=%s,provider_id=%s,arch=%s} %s\n", m.name,
				quoted(n.Name), quoted(n.Name), quoted(kind(n)), quoted(n.Region), quoted(n.Instance), quoted(n.Arch), rounded(m.value(n)))
		}
	}
	return w.Flush()
}

// rounded is a price with nine decimals at most.
func rounded(value float64) string {
	const unit = 1e9
	return strconv.FormatFloat(math.Round(value*unit)/unit, 'g', -1, 64)
}

// quoted is the value of a label. Names of Kubernetes have nothing that Go and Prometheus would quote differently.
func quoted(text string) string { return strconv.Quote(text) }
