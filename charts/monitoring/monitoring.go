// Package monitoring says how people watch Tenon: dashboards for Grafana and alerts for Prometheus, as values. A
// test writes them into the chart and into the page that explains them. The lab checks their queries
// against the existing metrics and with a real Prometheus.
package monitoring

//go:generate go test . -run ^TestFilesAreCurrent$ -rewrite

// Dashboard is one page of Grafana's.
type Dashboard struct {
	// Name is the name of the file, and Grafana's name for the dashboard.
	Name, Title, Help string
	Rows              []Row
}

// Row is a headline with the panels below it, from left to right.
type Row struct {
	Title  string
	Panels []Panel
}

// Panel shows the answers to queries.
type Panel struct {
	Title string
	// Help says what the panel shows, and what to do about it.
	Help    string
	Number  bool // a single number instead of a line over time
	Unit    Unit
	Queries []Query
}

// Query is an expression of PromQL, and what its series are called: {{label}} stands for a label's value.
type Query struct{ Expr, Legend string }

// Unit is one of Grafana's names for the unit of a number.
type Unit string

// The units that are in use.
const (
	count     Unit = "short"
	seconds   Unit = "s"
	dollars   Unit = "currencyUSD"
	share     Unit = "percentunit"
	percent   Unit = "percent"
	size      Unit = "bytes"
	perSecond Unit = "ops"
)

// Interval and Pool are variables that Grafana puts into queries: the time over which a rate is
// taken, and the pools that the reader has chosen.
const (
	Interval = "$__rate_interval"
	Pool     = "$nodepool"
)

// Dashboards returns all dashboards, in the order in which people read them.
func Dashboards() []Dashboard {
	return []Dashboard{fleet(), provisioning(), disruption(), provider(), shadow()}
}

// rate returns how fast counters grow, in total, for each value of the labels.
func rate(by, counter string) string {
	return "sum by (" + by + ") (rate(" + counter + "[" + Interval + "]))"
}

// quantile returns a quantile of a histogram for each value of the labels, which may be none.
func quantile(q, by, histogram string) string {
	if by != "" {
		by = ", " + by
	}
	return "histogram_quantile(" + q + ", sum by (le" + by + ") (rate(" + histogram + "[" + Interval + "])))"
}

// spread returns the median and a high quantile of a histogram.
func spread(histogram string) []Query {
	return []Query{{quantile("0.5", "", histogram), "median"}, {quantile("0.95", "", histogram), "95 of 100"}}
}

func one(expr, legend string) []Query { return []Query{{expr, legend}} }
