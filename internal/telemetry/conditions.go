package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Conditions are the metrics about the conditions and the termination of objects of one kind. Their
// last labels are those of Tail, in order.
type Conditions struct {
	StatusConditionCount                *prometheus.GaugeVec
	StatusConditionCurrentStatusSeconds *prometheus.GaugeVec
	StatusConditionTransitionsTotal     *prometheus.CounterVec
	StatusConditionTransitionSeconds    *prometheus.HistogramVec
	TerminationCurrentTimeSeconds       *prometheus.GaugeVec
	TerminationDurationSeconds          *prometheus.HistogramVec
	// LabelKeys are labels of the object whose values the metrics have in Tail. The older names have
	// none, and the kind in Tail.
	LabelKeys []string
	Tail      []string
}

func (m *Metrics) addConditions(r *Register, labels Labels) {
	claim := append([]string(nil), labels.Classes...)
	claim = append(claim, "karpenter.sh/nodepool")
	node := append([]string(nil), claim...)
	node = append(node, "karpenter.sh/initialized")
	m.Nodeclaim = newConditions(r, "nodeclaim_", claim)
	m.Nodepool = newConditions(r, "nodepool_", nil)
	m.Node = newConditions(r, "node_", node)
	m.Capacitybuffer = newConditions(r, "capacitybuffer_", nil)
	m.Provisioningrequest = newConditions(r, "provisioningrequest_", nil)
	if len(labels.Classes) > 0 {
		m.Nodeclass = newConditions(r, LabelName(labels.Classes[0])+"_", nil)
	}
	m.Operator = newOlderConditions(r)
}

func newConditions(r *Register, kind string, keys []string) Conditions {
	own := make([]string, len(keys))
	for i, key := range keys {
		own[i] = SafeName(key)
	}
	m := makeConditions(r, "operator_"+kind, prometheus.ExponentialBuckets(0.5, 2, 15), own)
	m.LabelKeys = keys
	return m
}

// newOlderConditions are the older names, which do not contain the kind.
func newOlderConditions(r *Register) Conditions {
	return makeConditions(r, "operator_", prometheus.DefBuckets, []string{"group", "kind"})
}

func makeConditions(r *Register, prefix string, buckets []float64, own []string) Conditions {
	with := func(labels ...string) []string { return append(labels, own...) }
	return Conditions{
		StatusConditionCount: r.Gauge(prefix+"status_condition_count",
			"Conditions of existing objects, each with the value 1.", with("namespace", "name", "type", "status", "reason")...),
		StatusConditionCurrentStatusSeconds: r.Gauge(prefix+"status_condition_current_status_seconds",
			"How long a condition has had its status.", with("namespace", "name", "type", "status", "reason")...),
		StatusConditionTransitionsTotal: r.Counter(prefix+"status_condition_transitions_total",
			"Changes of conditions to a status.", with("type", "status", "reason")...),
		StatusConditionTransitionSeconds: r.Histogram(prefix+"status_condition_transition_seconds",
			"How long a condition had its former status when it changed to this one.", buckets, with("type", "status")...),
		TerminationCurrentTimeSeconds: r.Gauge(prefix+"termination_current_time_seconds",
			"Time since the deletion of an object that is not gone yet.", with("namespace", "name")...),
		TerminationDurationSeconds: r.Histogram(prefix+"termination_duration_seconds",
			"Time from an object's deletion until it was gone.", buckets, with()...),
		Tail: own,
	}
}
