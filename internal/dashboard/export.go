package dashboard

import (
	"encoding/csv"
	"net/http"
	"strconv"

	"tenon/internal/cost"
	"tenon/internal/view"
)

// nodesCSV serves the nodes as a table for other programs: CPU in cores, memory in bytes, prices an hour.
func (d *Dashboard) nodesCSV(w http.ResponseWriter, _ *http.Request) {
	f := d.options.Fleet()
	rows := [][]string{{"name", "claim", "instance", "pool", "type", "zone", "capacity", "arch", "phase", "created", "pods", "cpu", "cpuRequested", "memory", "memoryRequested", "price", "idle", "daemons", "currency", "priceFrom", "verdict", "message"}}
	for _, n := range f.Nodes {
		price := ""
		if n.Source != view.Unpriced {
			price = amount(n.Price.Float())
		}
		created := ""
		if !n.Created.IsZero() {
			created = n.Created.UTC().Format("2006-01-02T15:04:05Z")
		}
		rows = append(rows, []string{
			n.Name, n.Claim, n.Instance, n.Pool, n.Type, n.Zone, n.CapacityType, n.Arch, string(n.Phase), created, strconv.Itoa(len(n.Pods)),
			amount(float64(n.Allocatable.CPU) / 1000), amount(float64(n.Requested.CPU) / 1000), strconv.FormatInt(n.Allocatable.Memory, 10), strconv.FormatInt(n.Requested.Memory, 10),
			price, amount(n.Idle.Float()), amount(n.Overhead.Float()), f.Currency, string(n.Source), n.Verdict.Word, n.Verdict.Message,
		})
	}
	table(w, "nodes.csv", rows)
}

// costsCSV serves the price an hour, divided in every way.
func (d *Dashboard) costsCSV(w http.ResponseWriter, _ *http.Request) {
	f := d.options.Fleet()
	rows := [][]string{{"by", "name", "count", "price", "currency"}}
	for _, by := range cost.Dimensions {
		for _, line := range f.Cost(by) {
			rows = append(rows, []string{string(by), line.Name, strconv.Itoa(line.Count), amount(line.Price.Float()), f.Currency})
		}
	}
	table(w, "costs.csv", rows)
}

func amount(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func table(w http.ResponseWriter, name string, rows [][]string) {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", "attachment; filename="+name)
	_ = csv.NewWriter(w).WriteAll(rows) // no answer is needed if the browser is gone
}
