package telemetry

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

//go:generate go test . -run ^TestReferencePageIsCurrent$ -rewrite

// Reference is the page docs/reference/metrics.md. It is generated, so that what people read is
// what the program does; a test holds the two together.
func Reference() (string, error) {
	m, err := NewMetrics(prometheus.NewRegistry(), Labels{Classes: []string{"karpenter.k8s.aws/ec2nodeclass"}})
	if err != nil {
		return "", err
	}
	var page strings.Builder
	page.WriteString(referenceHead)
	fmt.Fprintf(&page, "%s| `karpenter_build_info` | gauge | `version`, `goversion`, `goarch`, `commit` | Which build is running, in its labels. Always 1. |\n", tableHead)
	rest := m.Families()
	for len(rest) > 0 && ours(rest[0].Name) && !strings.HasPrefix(rest[0].Name, "operator_") {
		page.WriteString(referenceRow(rest[0]))
		rest = rest[1:]
	}
	page.WriteString(referenceOperator)
	page.WriteString(tableHead)
	for _, f := range rest {
		page.WriteString(referenceRow(f))
	}
	page.WriteString(referenceTail)
	return page.String(), nil
}

const tableHead = "\n| metric | type | labels | meaning |\n| --- | --- | --- | --- |\n"

func referenceRow(f Family) string {
	kind, labels := f.Type, "–"
	if len(f.Buckets) > 0 {
		kind = fmt.Sprintf("%s, %d buckets from %v to %v", kind, len(f.Buckets), f.Buckets[0], f.Buckets[len(f.Buckets)-1])
	}
	if len(f.Labels) > 0 {
		labels = "`" + strings.Join(f.Labels, "`, `") + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", f.Name, kind, labels, f.Help)
}

const referenceHead = `<!-- Generated from internal/telemetry by "make generate"; do not edit. -->
# Metrics of ` + "`tenon controller`" + `

They are served in Prometheus' text format on ` + "`/metrics`" + ` at [` + "`--metrics-port`" + `](settings.md). Names, types, labels and buckets are Karpenter's, so dashboards and
alerts keep working. What differs is how many time series there are.

## How many series there are

At most 500, or what ` + "`--metrics-series` (`METRICS_SERIES`)" + ` says, those of the Go runtime and of libraries included, whatever the number of instance
types, nodes and pods. Zero removes the bound: every metric then has all its labels and buckets, as in Karpenter.
[Decision 0013](../decisions/0013-bounded-series.md) says why.

While all series fit nothing is changed. When they do not, metrics are told more coarsely, the largest first, until they do:

1. The Go runtime tells only the handful of metrics that dashboards use, and the price list (` + "`karpenter_cloudprovider_instance_type_*`" + `) is left out.
2. Histograms keep eight buckets. Buckets are cumulative, so those that stay are as right as before; quantiles get less exact.
3. A metric loses its least telling label that has more than one value, and series that have become the same are joined: counters, histograms and gauges are
   added up, of ages (` + "`…_seconds`" + `) and percentages the largest is told, summaries keep sum and count. Labels go in this order: those that name single objects
   (` + "`scheduling_id`, `name`, `node_name`, `node`, `host`, `owner`, `namespace`" + `), those of providers, then ` + "`instance_type`, `zone`, `controller`" + ` and their like, and last
   ` + "`nodepool`, `type`, `phase`, `result`. `resource_type`" + ` stays: cores and bytes do not add up.

Metrics of libraries are coarsened before ours, and what alerts compare pool by pool (` + "`karpenter_nodepools_*`" + `) after all others. A gauge with a series for each pod, node or condition gets a tenth of
the bound at most: with more than 50 pods ` + "`karpenter_pods_state`" + ` tells how many pods there are in each state.

So write queries that hold for both: ` + "`sum by (phase) (karpenter_pods_state)`" + `, not ` + "`count`" + `. If a label that you need is missing, raise the setting:
` + "`karpenter_metrics_series_gathered`" + ` says how many series there would be without a bound, ` + "`karpenter_metrics_series_exposed`" + ` how many there are.
The price list is counted only where it has room: it has two series for each offering, twenty thousand for a region of AWS.

` + "`--disable-cluster-state-observability`" + ` drops metrics of pods, nodes, pools and conditions altogether.

## Tenon
`

const referenceOperator = `
## Conditions and the end of objects

The names without a kind (` + "`operator_status_condition_*`, `operator_termination_*`" + `) are the older ones: they are filled only when
` + "`--metrics-series`" + ` is 0. A condition that a process sees for the first time is
no transition, so a restart counts none.
`

const referenceTail = `
## Of this process

| metric | type | labels | meaning |
| --- | --- | --- | --- |
| ` + "`karpenter_metrics_series_exposed`" + ` | gauge | – | Time series that this process exposes. *(Tenon's own)* |
| ` + "`karpenter_metrics_series_gathered`" + ` | gauge | – | Time series that it would expose without a bound. *(Tenon's own)* |

Besides these come what controller-runtime and client-go tell (` + "`client_go_request_*`, `controller_runtime_*`, `workqueue_*`, `rest_client_*`, `leader_election_*`" + `), and ` + "`go_*` and `process_*`" + `.

## What else differs from Karpenter

| metric | difference |
| --- | --- |
| ` + "`karpenter_nodes_*`" + ` of single nodes | refreshed every 5 s in a small cluster, every 30 s with 5,000 pods, more seldom with more than 50,000 |
| ` + "`operator_…_status_condition_count`" + ` and its like | refreshed every 10 s, every 30 s with 200 objects of the kind or more |
| ` + "`karpenter_nodepools_allowed_disruptions`, `karpenter_nodepools_nodes_consuming_budgets`" + ` | told by the pool's own controller every 10 s, also while nothing is disrupted |
| ` + "`karpenter_voluntary_disruption_eligible_nodes`" + ` | counts nodes that would go for a reason if it was worth it and allowed, of one and the same evaluation for all reasons |
| ` + "`karpenter_nodepools_cost_total`" + ` | absent, not 0, while the cloud cannot say what anything costs |
| ` + "`karpenter_cloudprovider_duration_seconds`" + ` | has the method ` + "`Admit`" + ` for providers whose nodes are not complete when they join |
| ` + "`operator_*_transitions_total`" + ` | does not count conditions that were there when the process started |

## Events

An event is published once in two minutes, or in the time of its kind, for the same object and reason. Of pods with the same owner and reason ten get an event of their own; the others share one, beside the owner, and of
` + "`FailedScheduling`" + ` five more a second get their own besides, so that up to 300 pods of an owner have it within a minute:
` + "`2990 more pods of ReplicaSet web, the last of them web-7c9: Failed to schedule pod, …`" + `. Events of pods are at most 10 a second and 100 at once for each reason; what comes above that is counted in
such an event, too, and nothing is lost of the count. A message is at most 1,024 bytes long. Those about nodes that stay are [bounded besides](staying.md#how-it-is-told).
`
