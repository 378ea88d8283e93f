package queries

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/prometheus/model/labels"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // registers its metrics
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"tenon/internal/aws"
	"tenon/internal/aws/metrics"
	"tenon/internal/telemetry"
	"tenon/internal/version"
)

// fixture is a /metrics page with the metrics of the process, and with all series that queries select.
type fixture struct {
	registry *prometheus.Registry
	// labels are those of each metric, by the metric's name in a query.
	labels map[string][]string
	// collectors by the name of their metric.
	collectors map[string]prometheus.Collector
	names      map[string][]string // the metric's labels in their order
}

// capture records registered collectors in their order.
type capture struct {
	*prometheus.Registry
	all []prometheus.Collector
}

func (c *capture) Register(collector prometheus.Collector) error {
	c.all = append(c.all, collector)
	return c.Registry.Register(collector)
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{registry: prometheus.NewRegistry(), labels: map[string][]string{}, collectors: map[string]prometheus.Collector{}, names: map[string][]string{}}
	into := &capture{Registry: f.registry}
	m, err := telemetry.NewMetrics(into, telemetry.Labels{Classes: aws.Cloud().Classes})
	if err != nil {
		t.Fatal(err)
	}
	_, ofCloud, err := metrics.New(into)
	if err != nil {
		t.Fatal(err)
	}
	for i, family := range slices.Concat(m.Families(), ofCloud) {
		f.add(family, into.all[i])
	}
	f.registry.MustRegister(telemetry.NewBuildInfo(version.Info{}))
	f.addGathered(t)
	f.addLibraries()
	return f
}

// add records a metric with the series of which it consists.
func (f *fixture) add(family telemetry.Family, c prometheus.Collector) {
	f.collectors[family.Name], f.names[family.Name] = c, family.Labels
	switch family.Type {
	case "histogram":
		f.labels[family.Name+"_bucket"] = append(slices.Clone(family.Labels), "le")
	case "summary":
		f.labels[family.Name] = append(slices.Clone(family.Labels), "quantile")
	default:
		f.labels[family.Name] = family.Labels
		return
	}
	f.labels[family.Name+"_sum"], f.labels[family.Name+"_count"] = family.Labels, family.Labels
}

// addGathered records metrics that exist without registration: of the build, and of the bound on series.
func (f *fixture) addGathered(t *testing.T) {
	t.Helper()
	families, err := f.gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if _, known := f.collectors[family.GetName()]; known {
			continue
		}
		names := []string{}
		for _, l := range family.GetMetric()[0].GetLabel() {
			names = append(names, l.GetName())
		}
		f.labels[family.GetName()] = names
	}
}

// described matches a library's description of its metric.
var described = regexp.MustCompile(`fqName: "([^"]*)".*variableLabels: \{([^}]*)\}`)

// addLibraries records the metrics of controller-runtime, client-go and the process, and makes gauges with
// the same names and labels, because the code that sets their own does not run here.
func (f *fixture) addLibraries() {
	all := make(chan *prometheus.Desc)
	go func() {
		defer close(all)
		ctrlmetrics.Registry.(*prometheus.Registry).Describe(all)
	}()
	for d := range all {
		found := described.FindStringSubmatch(d.String())
		if _, known := f.labels[found[1]]; known {
			continue
		}
		names := strings.FieldsFunc(found[2], func(r rune) bool { return r == ',' })
		gauge := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: found[1], Help: "Of a library."}, names)
		f.registry.MustRegister(gauge)
		f.labels[found[1]], f.collectors[found[1]], f.names[found[1]] = names, gauge, names
	}
}

// gatherer returns a gatherer with a bound that all series fit into.
func (f *fixture) gatherer() prometheus.Gatherer { return telemetry.Bounded(f.registry, 100_000) }

// serve increases every series of the queries before it serves the page.
func (f *fixture) serve(selected []selector) http.Handler {
	page := promhttp.HandlerFor(f.gatherer(), promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, s := range selected {
			f.touch(s)
		}
		page.ServeHTTP(w, r)
	})
}

// touch sets the series that a selector wants, one for each value that a label may have.
func (f *fixture) touch(s selector) {
	name := s.metric
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base := strings.TrimSuffix(s.metric, suffix); f.collectors[base] != nil {
			name = base
		}
	}
	if f.collectors[name] == nil {
		return // it exists without being set
	}
	rows := []map[string]string{{}}
	for _, m := range s.matchers {
		var more []map[string]string
		for _, row := range rows {
			for _, value := range wanted(m) {
				one := maps.Clone(row)
				one[m.Name] = value
				more = append(more, one)
			}
		}
		rows = more
	}
	for _, row := range rows {
		values := make([]string, len(f.names[name]))
		for i, label := range f.names[name] {
			if values[i] = row[label]; values[i] == "" {
				values[i] = "some"
			}
		}
		grow(f.collectors[name], values)
	}
}

// wanted returns values that a matcher accepts.
func wanted(m *labels.Matcher) []string {
	if m.Type == labels.MatchEqual {
		return []string{m.Value}
	}
	if m.Type == labels.MatchRegexp && !strings.Contains(m.Value, ".*") {
		return strings.Split(m.Value, "|")
	}
	return []string{"some"}
}

func grow(c prometheus.Collector, values []string) {
	switch c := c.(type) {
	case *prometheus.CounterVec:
		c.WithLabelValues(values...).Inc()
	case *prometheus.GaugeVec:
		c.WithLabelValues(values...).Inc()
	case *prometheus.HistogramVec:
		c.WithLabelValues(values...).Observe(1)
	case *prometheus.SummaryVec:
		c.WithLabelValues(values...).Observe(1)
	}
}
