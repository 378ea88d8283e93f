package telemetry

import (
	"errors"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"tenon/cloud"
)

// Metrics are the metrics of the product on every cloud. A field's name is its metric's after karpenter_.
// Registering one costs nothing: a series appears when its labels are first used.
type Metrics struct {
	claimMetrics
	nodeMetrics
	poolMetrics
	costMetrics
	podMetrics
	schedulerMetrics
	disruptionMetrics
	cloudMetrics
	shadowMetrics
	autoscalerMetrics

	// Conditions and terminations of one kind each.
	Nodeclaim, Nodepool, Node, Capacitybuffer, Provisioningrequest, Nodeclass Conditions
	// Operator has the older names, which carry the kind as a label.
	Operator Conditions

	// PodProgress records the decisions about pods, for the metrics of how long they wait.
	PodProgress PodProgress

	families []Family
}

// Labels are the inputs for the labels of some metrics.
type Labels struct {
	// WellKnown are the keys of node labels that the provider adds to the API's own.
	WellKnown []string
	// Classes are the keys under which nodes and claims carry their class's name:
	// "karpenter.k8s.aws/ec2nodeclass". The first names the kind of the metrics of classes.
	Classes []string
}

// LabelsOf are the labels of a provider.
func LabelsOf(d cloud.Description) Labels {
	labels := Labels{WellKnown: slices.Clone(d.Words.WellKnown)}
	for _, kind := range d.Classes {
		labels.Classes = append(labels.Classes, kind.Group+"/"+strings.ToLower(kind.Kind))
	}
	return labels
}

// NewMetrics makes all metrics and registers them. Tests and simulations pass a registry of their
// own.
func NewMetrics(registry prometheus.Registerer, labels Labels) (*Metrics, error) {
	r := NewRegister(registry)
	m := &Metrics{
		claimMetrics:      newClaimMetrics(r),
		nodeMetrics:       newNodeMetrics(r, labels),
		poolMetrics:       newPoolMetrics(r),
		costMetrics:       newCostMetrics(r),
		podMetrics:        newPodMetrics(r),
		schedulerMetrics:  newSchedulerMetrics(r),
		disruptionMetrics: newDisruptionMetrics(r),
		cloudMetrics:      newCloudMetrics(r),
		shadowMetrics:     newShadowMetrics(r),
		autoscalerMetrics: newAutoscalerMetrics(r),
	}
	m.addConditions(r, labels)
	m.families = r.Families
	return m, r.Err()
}

// Families describe every metric, in the order in which they are documented.
func (m *Metrics) Families() []Family { return slices.Clone(m.families) }

// Family describes one metric.
type Family struct {
	Name    string // with its namespace
	Type    string // counter, gauge, histogram or summary
	Help    string
	Labels  []string
	Buckets []float64 // of histograms
}

// Register makes metrics, and collects their descriptions and the errors, so that a list of metrics reads as
// one.
type Register struct {
	// Families describe the metrics made so far, in order.
	Families []Family

	into  prometheus.Registerer
	wrong []error
}

// NewRegister makes an empty Register.
func NewRegister(into prometheus.Registerer) *Register { return &Register{into: into} }

// Err joins all errors.
func (r *Register) Err() error { return errors.Join(r.wrong...) }

func (r *Register) note(c prometheus.Collector, f Family) {
	if err := r.into.Register(c); err != nil {
		r.wrong = append(r.wrong, err)
	}
	r.Families = append(r.Families, f)
}

// Counter makes a metric that only increases.
func (r *Register) Counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: full(name), Help: help}, labels)
	r.note(v, Family{Name: full(name), Type: "counter", Help: help, Labels: labels})
	return v
}

// Gauge makes a metric that increases and decreases.
func (r *Register) Gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: full(name), Help: help}, labels)
	r.note(v, Family{Name: full(name), Type: "gauge", Help: help, Labels: labels})
	return v
}

// Histogram makes a metric of how often values fall into each bucket.
func (r *Register) Histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: full(name), Help: help, Buckets: buckets}, labels)
	r.note(v, Family{Name: full(name), Type: "histogram", Help: help, Labels: labels, Buckets: buckets})
	return v
}

// Summary makes a metric of the quantiles of values.
func (r *Register) Summary(name, help string, labels ...string) *prometheus.SummaryVec {
	v := prometheus.NewSummaryVec(prometheus.SummaryOpts{Name: full(name), Help: help, Objectives: quantiles()}, labels)
	r.note(v, Family{Name: full(name), Type: "summary", Help: help, Labels: labels})
	return v
}

// full puts the product's namespace before a name, except before names that other operators share.
func full(name string) string {
	if strings.HasPrefix(name, "operator_") || strings.HasPrefix(name, autoscalerPrefix) || strings.HasPrefix(name, "aws_sdk_go_") {
		return name
	}
	return Namespace + "_" + name
}

// quantiles are those of every summary, with the allowed error of each.
func quantiles() map[float64]float64 {
	return map[float64]float64{0: 0.01, 0.5: 0.01, 0.9: 0.01, 0.99: 0.01, 1: 0.01}
}

// Durations are the buckets for durations of usually seconds and sometimes minutes.
func Durations() []float64 {
	return []float64{
		0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9,
		1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60, 120, 150, 300, 450, 600,
	}
}

// LabelName is the label of a metric for a label's key, without its domain.
func LabelName(key string) string {
	return strings.ReplaceAll(strings.ToLower(key[strings.LastIndexByte(key, '/')+1:]), "-", "_")
}

// SafeName is the label of a metric for a whole key.
func SafeName(key string) string {
	return strings.NewReplacer("/", "_", ".", "_", "-", "_").Replace(key)
}

// ResourceName is the value of the label resource_type for a resource.
func ResourceName(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "-", "_")
}
