package telemetry

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// DefaultSeries is the default limit of time series that the process exposes.
const DefaultSeries = 500

// Bounded is a gatherer with a limit of time series, including those of libraries; zero means no
// limit. Nothing is changed while all fit. When they do not, the largest metric is made coarser,
// repeatedly: first with fewer buckets, then without its least useful labels, whose series are
// joined. Sums over a metric stay right. The numbers of series before and after are metrics
// themselves.
func Bounded(g prometheus.Gatherer, limit int) prometheus.Gatherer {
	if limit <= 0 {
		return g
	}
	return prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		families, err := g.Gather()
		// The gathered metrics are exposed beside an error, as they would be without a limit.
		return bound(families, limit), err
	})
}

func bound(families []*dto.MetricFamily, limit int) []*dto.MetricFamily {
	gathered := seriesOf(families)
	total := gathered + len(accounts(0, 0))
	if total > limit {
		families = slices.DeleteFunc(slices.Clone(families), dispensable)
		total = seriesOf(families) + len(accounts(0, 0))
	}
	all := make([]*coarsened, len(families))
	for i, f := range families {
		all[i] = newCoarsened(f)
	}
	for total > limit {
		largest := heaviest(all)
		if largest == nil {
			break
		}
		total -= largest.size
		largest.coarsen()
		total += largest.size
	}
	all, total = dropped(all, total, limit)
	out := make([]*dto.MetricFamily, 0, len(all)+2)
	for _, f := range all {
		out = append(out, f.family)
	}
	out = append(out, accounts(gathered, total)...)
	slices.SortFunc(out, func(a, b *dto.MetricFamily) int { return cmp.Compare(a.GetName(), b.GetName()) })
	return out
}

// dispensable are removed first. One is the Go runtime's metrics except the few that dashboards use: a
// hundred series, useful for debugging the runtime. The other is the price list: thousands, and prices do
// not add up.
func dispensable(f *dto.MetricFamily) bool {
	name := f.GetName()
	if strings.HasPrefix(name, Namespace+"_cloudprovider_instance_type_") {
		return true
	}
	switch name {
	case "go_goroutines", "go_threads", "go_info", "go_gc_duration_seconds", "go_memstats_alloc_bytes", "go_memstats_heap_inuse_bytes", "go_memstats_sys_bytes":
		return false
	}
	return strings.HasPrefix(name, "go_")
}

func seriesOf(families []*dto.MetricFamily) int {
	n := 0
	for _, f := range families {
		n += size(f)
	}
	return n
}

// accounts say how many series the limit removed.
func accounts(gathered, exposed int) []*dto.MetricFamily {
	account := func(name, help string, value int) *dto.MetricFamily {
		number := float64(value)
		name, kind := full(name), dto.MetricType_GAUGE
		return &dto.MetricFamily{Name: &name, Help: &help, Type: &kind, Metric: []*dto.Metric{{Gauge: &dto.Gauge{Value: &number}}}}
	}
	return []*dto.MetricFamily{
		account("metrics_series_exposed", "Time series that this process exposes.", exposed),
		account("metrics_series_gathered", "Time series that it would expose without a bound.", gathered),
	}
}

// heaviest is the family to coarsen next: the one with the most series, weighted by how often
// people look at it. Nil if none can be coarsened.
func heaviest(all []*coarsened) *coarsened {
	var most *coarsened
	for _, f := range all {
		if f.steps() && (most == nil || f.weight() > most.weight()) {
			most = f // the first of equals: families come sorted by name
		}
	}
	return most
}

// dropped leaves out whole families when even the coarsest form has too many series: first those of
// libraries, from the end of the alphabet, and then ours. It does not happen with the libraries
// that we use.
func dropped(all []*coarsened, total, limit int) ([]*coarsened, int) {
	for _, ours := range []bool{false, true} {
		for i := len(all) - 1; i >= 0 && total > limit; i-- {
			if all[i].ours == ours {
				total -= all[i].size
				all = slices.Delete(all, i, i+1)
			}
		}
	}
	return all, total
}

// coarsened is a family that is being coarsened.
type coarsened struct {
	family *dto.MetricFamily
	ours   bool
	size   int
	// labels that can still be lost, the first to go first.
	labels []string
	// bounds are the numbers of buckets to keep: the first before labels are removed, the second
	// after.
	before, after []int
}

func newCoarsened(family *dto.MetricFamily) *coarsened {
	f := &coarsened{family: family, ours: ours(family.GetName()), size: size(family)}
	varying := map[string]string{}
	var labels []string
	for _, m := range family.GetMetric() {
		for _, l := range m.GetLabel() {
			if value, seen := varying[l.GetName()]; !seen {
				varying[l.GetName()] = l.GetValue()
			} else if value != l.GetValue() && !slices.Contains(labels, l.GetName()) {
				labels = append(labels, l.GetName())
			}
		}
	}
	f.labels = inLossOrder(labels)
	if family.GetType() == dto.MetricType_HISTOGRAM {
		f.before, f.after = []int{8}, []int{4, 0}
	}
	return f
}

func ours(name string) bool {
	return strings.HasPrefix(name, Namespace+"_") || strings.HasPrefix(name, "operator_")
}

func (f *coarsened) steps() bool { return len(f.before)+len(f.labels)+len(f.after) > 0 }

// weight is the size of a family for the choice of what to coarsen: libraries' families count more,
// and those that alerts compare pool by pool count less.
func (f *coarsened) weight() int {
	switch {
	case !f.ours && f.family.GetName() != "controller_runtime_reconcile_errors_total":
		return 12 * f.size
	case strings.HasPrefix(f.family.GetName(), Namespace+"_nodepools_"):
		return f.size
	}
	return 3 * f.size
}

// coarsen takes one step. It does not change the gathered family.
func (f *coarsened) coarsen() {
	switch {
	case len(f.before) > 0:
		f.family = mapped(f.family, func(m *dto.Metric) *dto.Metric { return thinned(m, f.before[0]) })
		f.before = f.before[1:]
	case len(f.labels) > 0:
		f.family = without(f.family, f.labels[0])
		f.labels = f.labels[1:]
	default:
		f.family = mapped(f.family, func(m *dto.Metric) *dto.Metric { return thinned(m, f.after[0]) })
		f.after = f.after[1:]
	}
	f.size = size(f.family)
}

// size is the number of time series in a family.
func size(family *dto.MetricFamily) int {
	n := 0
	for _, m := range family.GetMetric() {
		switch {
		case m.GetHistogram() != nil:
			n += len(finite(m.GetHistogram())) + 3 // the bucket without bound, the sum, the count
		case m.GetSummary() != nil:
			n += len(m.GetSummary().GetQuantile()) + 2
		default:
			n++
		}
	}
	return n
}
