package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// lossOrder says which labels a metric loses first when it has too many series: those that name
// single objects, then (where the empty string is) all that are not listed, and at last what
// people group by.
var lossOrder = []string{
	"scheduling_id", "name", "node_name", "node", "host", "owner", "namespace",
	"",
	"image_id", "windows_build", "region", "os", "arch", "instance_type", "provider", "zone", "ready", "managed", "scheduled",
	"controller", "min_values_relaxed", "consolidation_type", "termination_mode", "consolidation_policy", "policy",
	"capacity_type", "error", "code", "reason", "method", "status", "decision", "nodepool", "type", "phase", "result",
}

// unjoinable labels tell things apart that cannot be added: cores and bytes.
var unjoinable = []string{"resource_type", "group", "kind"}

// lossRank is a label's place in the order; it reports false for those that are never lost.
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

// joinsToLargest reports whether series of a gauge that become one are told by the largest:
// ages do not add up.
func joinsToLargest(name string) bool {
	return strings.HasSuffix(name, "_seconds") || strings.HasSuffix(name, "_percent")
}

// A JoinedGauge gathers the values of one gauge, however many there are, in at most so many series:
// when there would be more, it loses labels one after the other and joins what has become the
// same. It never holds more than that, so it can be fed one value for each pod of a cluster. The
// order of what is added does not matter.
type JoinedGauge struct {
	largest bool
	bound   int
	order   []int // of labels, as they are lost
	lost    int   // how many of order are
	gone    []bool
	rows    map[string]*joinedRow
	only    []string // a label's value, while it has but one
	varies  []bool
	key     []byte // reused, so that a value that joins others costs no memory
}

type joinedRow struct {
	values []string
	value  float64
}

// NewJoinedGauge is for the gauge of that name with these labels. A bound of zero is none.
func NewJoinedGauge(name string, bound int, labels ...string) *JoinedGauge {
	f := &JoinedGauge{largest: joinsToLargest(name), bound: bound, rows: map[string]*joinedRow{}, varies: make([]bool, len(labels)), gone: make([]bool, len(labels))}
	for _, label := range inLossOrder(labels) {
		f.order = append(f.order, slices.Index(labels, label))
	}
	return f
}

// Add is one more value, with those of its labels, which stay the caller's.
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
		// The order does not matter: sums of what is added here are of whole numbers, or of the largest.
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

// left is the values without those of labels that had to go.
func (f *JoinedGauge) left(values []string) []string {
	out := slices.Clone(values)
	for i := range out {
		if f.gone[i] {
			out[i] = ""
		}
	}
	return out
}

// restore gives labels back that had to go but never varied: they cost nothing.
func (f *JoinedGauge) restore(values []string) []string {
	out := slices.Clone(values)
	for _, i := range f.order[:f.lost] {
		if !f.varies[i] {
			out[i] = f.only[i]
		}
	}
	return out
}

// Replace makes these the only series of a gauge that begin so; shown are those that were there
// before, and are what Replace returned last time. Series that stay are never missing meanwhile.
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
