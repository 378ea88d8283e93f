// Package queries checks the queries of the chart's dashboards and alerts: it checks that their metrics and
// labels exist and, with the programs of Debian's package prometheus, that each query has an answer and
// each alert fires. The controller does not run: the package registers its metrics and sets them as queries
// need them.
package queries

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"tenon/charts/monitoring"
)

// window is the range of rates here, in place of the one that Grafana inserts. It holds a few scrapes.
const window = "10s"

// query is one expression with its place.
type query struct{ at, expr string }

// ofDashboards returns the queries of all panels, as Grafana sends them when all pools are selected.
func ofDashboards() []query {
	filled := strings.NewReplacer(monitoring.Interval, window, monitoring.Pool, ".*")
	var out []query
	for _, d := range monitoring.Dashboards() {
		for _, row := range d.Rows {
			for _, p := range row.Panels {
				for _, q := range p.Queries {
					out = append(out, query{d.Name + ": " + p.Title, filled.Replace(q.Expr)})
				}
			}
		}
	}
	return out
}

func ofAlerts() []query {
	var out []query
	for _, a := range monitoring.Alerts() {
		out = append(out, query{a.Name, a.Expr})
	}
	return out
}

// selector is what a query selects of one metric: its name, and the matchers of its labels.
type selector struct {
	metric   string
	matchers []*labels.Matcher
	// grouped are labels by which the query groups or matches the metric's series.
	grouped []string
}

// selectors returns the selectors of a query.
func selectors(t *testing.T, q query) []selector {
	t.Helper()
	expr, err := parser.ParseExpr(q.expr)
	if err != nil {
		t.Fatalf("%s: %v in\n%s", q.at, err, q.expr)
	}
	var out []selector
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		v, is := node.(*parser.VectorSelector)
		if !is {
			return nil
		}
		s := selector{metric: v.Name}
		for _, m := range v.LabelMatchers {
			if m.Name != labels.MetricName {
				s.matchers = append(s.matchers, m)
			}
		}
		for _, above := range path {
			switch above := above.(type) {
			case *parser.AggregateExpr:
				s.grouped = append(s.grouped, above.Grouping...)
			case *parser.BinaryExpr:
				if above.VectorMatching != nil {
					s.grouped = append(s.grouped, above.VectorMatching.MatchingLabels...)
				}
			}
		}
		out = append(out, s)
		return nil
	})
	return out
}

// ofTarget are the labels that Prometheus gives to every series of a target.
var ofTarget = []string{"instance", "job"}

// Every metric and label that a query uses exists on the metrics page.
func TestMetricsAndLabelsOfQueriesExist(t *testing.T) {
	t.Parallel()
	known := newFixture(t).labels
	for _, q := range slices.Concat(ofDashboards(), ofAlerts()) {
		for _, s := range selectors(t, q) {
			has, there := known[s.metric]
			if !there {
				t.Errorf("%s: there is no metric %s", q.at, s.metric)
				continue
			}
			for _, m := range s.matchers {
				if !slices.Contains(has, m.Name) {
					t.Errorf("%s: %s has no label %s", q.at, s.metric, m.Name)
				}
			}
			for _, label := range s.grouped {
				if !slices.Contains(has, label) && !slices.Contains(ofTarget, label) {
					t.Errorf("%s: %s has no label %s", q.at, s.metric, label)
				}
			}
		}
	}
}

// Every label in a legend or in an alert's text is a label of the query's answer.
func TestTextsShowLabelsThatAnswersHave(t *testing.T) {
	t.Parallel()
	shown := func(text, before, after string) []string {
		var out []string
		for {
			var there bool
			if _, text, there = strings.Cut(text, before); !there {
				return out
			}
			var label string
			label, text, _ = strings.Cut(text, after)
			out = append(out, strings.TrimSpace(label))
		}
	}
	check := func(at, expr string, wanted []string) {
		var grouped []string
		for _, s := range selectors(t, query{at, expr}) {
			grouped = append(grouped, s.grouped...)
		}
		for _, label := range wanted {
			if !slices.Contains(grouped, label) {
				t.Errorf("%s: the answer has no label %s", at, label)
			}
		}
	}
	filled := strings.NewReplacer(monitoring.Interval, window, monitoring.Pool, ".*")
	for _, d := range monitoring.Dashboards() {
		for _, row := range d.Rows {
			for _, p := range row.Panels {
				for _, q := range p.Queries {
					check(d.Name+": "+p.Title, filled.Replace(q.Expr), shown(q.Legend, "{{", "}}"))
				}
			}
		}
	}
	for _, a := range monitoring.Alerts() {
		check(a.Name, a.Expr, shown(a.Summary+a.Because, "$labels.", " "))
	}
}
