package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// lossOrder says which labels a metric loses first when it has too many series: labels that name
// single objects, then (at the empty string) all that are not listed, and at last those by which
// people group.
var lossOrder = []string{
	"scheduling_id", "name", "node_name", "node", "host", "owner", "namespace",
	"",
	"image_id", "windows_build", "region", "os", "arch", "instance_type", "provider", "zone", "ready", "managed", "scheduled",
	"controller", "min_values_relaxed", "consolidation_type", "termination_mode", "consolidation_policy", "policy",
	"capacity_type", "error", "code", "reason", "method", "status", "decision", "nodepool", "type", "phase", "result",
}

// unjoinable labels separate values that cannot be added: cores and bytes.
var unjoinable = []string{"resource_type", "group", "kind"}

// lossRank is a label's place in the order; it reports false for labels that are never lost.
func lossRank(label string) (int, bool) {
	if slices.Contains(unjoinable, label) {
		return 0, false
	}
	if at := slices.Index(lossOrder, label); at >= 0 {
		return at, true
	}
	return slices.Index(lossOrder, ""), true
}

// inLossOrder are the labels that may be lost, the first to go first.
func inLossOrder(labels []string) []string {
	type ranked struct {
		rank  int
		label string
	}
	var all []ranked
	for _, label := range labels {
		if rank, may := lossRank(label); may {
			all = append(all, ranked{rank, label})
		}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.label, b.label)) })
	out := make([]string, len(all))
	for i, r := range all {
		out[i] = r.label
	}
	return out
}

// joinsToLargest reports whether joined series of a gauge have the largest of their values: ages do
// not add up.
func joinsToLargest(name string) bool {
	return strings.HasSuffix(name, "_seconds") || strings.HasSuffix(name, "_percent")
}

// A JoinedGauge gathers any number of values of one gauge in a limited number of series: when there
// would be more, it loses labels one after the other and joins the series that have become equal.
// It never holds more than that, so it can be fed one value for each pod of a cluster. The order of
// the values does not matter.
type JoinedGauge struct {
	largest bool
	bound   int
	order   []int // of labels, as they are lost
	lost    int   // how many of order are lost
	gone    []bool
	rows    map[string]*joinedRow
	only    []string // the value of a label that has had only one
	varies  []bool
	key     []byte // reused, so that a value that joins others costs no memory
}

type joinedRow struct {
	values []string
	value  float64
}

// NewJoinedGauge makes a gauge with that name and these labels. A bound of zero means no limit.
func NewJoinedGauge(name string, bound int, labels ...string) *JoinedGauge {
	f := &JoinedGauge{largest: joinsToLargest(name), bound: bound, rows: map[string]*joinedRow{}, varies: make([]bool, len(labels)), gone: make([]bool, len(labels))}
	for _, label := range inLossOrder(labels) {
		f.order = append(f.order, slices.Index(labels, label))
	}
	return f
}

// Add adds a value with its labels, which still belong to the caller.
func (f *JoinedGauge) Add(value float64, values ...string) {
	if f.only == nil {
		f.only = slices.Clone(values)
	}
	for i := range values {
		f.varies[i] = f.varies[i] || values[i] != f.only[i]
	}
	f.join(values, value)
	for f.bound > 0 && len(f.rows) > f.bound && f.lost < len(f.order) {
		f.gone[f.order[f.lost]] = true
		f.lost++
		rows := f.rows
		f.rows = make(map[string]*joinedRow, len(rows))
		// The order does not matter: the values are summed as whole numbers, or the largest is taken.
		for _, key := range slices.Sorted(maps.Keys(rows)) {
			f.join(rows[key].values, rows[key].value)
		}
	}
}

func (f *JoinedGauge) join(values []string, value float64) {
	f.key = f.key[:0]
	for i := range values {
		if !f.gone[i] {
			f.key = append(f.key, values[i]...)
		}
		f.key = append(f.key, 0)
	}
	row, there := f.rows[string(f.key)]
	switch {
	case !there:
		f.rows[string(f.key)] = &joinedRow{f.left(values), value}
	case f.largest:
		row.value = max(row.value, value)
	default:
		row.value += value
	}
}

// left is the values without those of lost labels.
func (f *JoinedGauge) left(values []string) []string {
	out := slices.Clone(values)
	for i := range out {
		if f.gone[i] {
			out[i] = ""
		}
	}
	return out
}

// restore gives back lost labels that never varied: they cost nothing.
func (f *JoinedGauge) restore(values []string) []string {
	out := slices.Clone(values)
	for _, i := range f.order[:f.lost] {
		if !f.varies[i] {
			out[i] = f.only[i]
		}
	}
	return out
}

// Replace makes these the only series of a gauge with this prefix of labels; shown are the previous
// ones, as Replace returned them last time. Series that stay are never missing in between.
func (f *JoinedGauge) Replace(gauge *prometheus.GaugeVec, shown [][]string) [][]string {
	now := make([][]string, 0, len(f.rows))
	fresh := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(f.rows)) {
		values := f.restore(f.rows[key].values)
		gauge.WithLabelValues(values...).Set(f.rows[key].value)
		fresh[strings.Join(values, "\x00")] = true
		now = append(now, values)
	}
	for _, values := range shown {
		if !fresh[strings.Join(values, "\x00")] {
			gauge.DeleteLabelValues(values...)
		}
	}
	return now
}
