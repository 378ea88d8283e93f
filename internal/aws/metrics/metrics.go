// Package metrics is the metrics of the AWS provider and of its controllers.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"tenon/internal/telemetry"
)

// Metrics are those that only AWS has. A field's name is its metric's after karpenter_.
type Metrics struct {
	InterruptionReceivedMessagesTotal             *prometheus.CounterVec
	InterruptionDeletedMessagesTotal              *prometheus.CounterVec
	InterruptionMessageQueueDurationSeconds       *prometheus.HistogramVec
	InterruptionInstanceStatusUnhealthyTotal      *prometheus.CounterVec
	CloudproviderInstanceLaunchFailuresTotal      *prometheus.CounterVec
	CloudproviderInstanceTerminationFailuresTotal *prometheus.CounterVec
	CloudproviderBatcherBatchTimeSeconds          *prometheus.HistogramVec
	CloudproviderBatcherBatchSize                 *prometheus.HistogramVec
	Ec2nodeclassesUserdataBytes                   *prometheus.GaugeVec
	AwsSdkGoRequestTotal                          *prometheus.CounterVec
	AwsSdkGoRequestRetryCount                     *prometheus.HistogramVec
	AwsSdkGoRequestDurationSeconds                *prometheus.HistogramVec
	AwsSdkGoRequestAttemptTotal                   *prometheus.CounterVec
	AwsSdkGoRequestAttemptDurationSeconds         *prometheus.HistogramVec
}

// New makes the metrics, registers them, and describes each.
func New(registry prometheus.Registerer) (*Metrics, []telemetry.Family, error) {
	r := telemetry.NewRegister(registry)
	m := &Metrics{
		InterruptionReceivedMessagesTotal: r.Counter("interruption_received_messages_total",
			"Messages of the interruption queue, by what they announce.", "message_type"),
		InterruptionDeletedMessagesTotal: r.Counter("interruption_deleted_messages_total",
			"Messages of the interruption queue that were handled and deleted."),
		InterruptionMessageQueueDurationSeconds: r.Histogram("interruption_message_queue_duration_seconds",
			"Time from an announcement until it was handled.", telemetry.Durations()),
		InterruptionInstanceStatusUnhealthyTotal: r.Counter("interruption_instance_status_unhealthy_total",
			"Instances whose status became unhealthy, by what is wrong.", "category"),
		CloudproviderInstanceLaunchFailuresTotal: r.Counter("cloudprovider_instance_launch_failures_total",
			"Offers of a launch that did not lead to an instance, by reason.", "zone", "zone_id", "capacity_type", "reason"),
		CloudproviderInstanceTerminationFailuresTotal: r.Counter("cloudprovider_instance_termination_failures_total",
			"Instances that could not be terminated when they should have been.", "zone", "zone_id"),
		CloudproviderBatcherBatchTimeSeconds: r.Histogram("cloudprovider_batcher_batch_time_seconds",
			"How long requests were collected before they were sent as one.", telemetry.Durations(), "batcher"),
		CloudproviderBatcherBatchSize: r.Histogram("cloudprovider_batcher_batch_size",
			"How many requests were sent as one.", batchSizes(), "batcher"),
		Ec2nodeclassesUserdataBytes: r.Gauge("ec2nodeclasses_userdata_bytes",
			"Size of the user data in a class's last launch template.", "nodeclass"),
		AwsSdkGoRequestTotal: r.Counter("aws_sdk_go_request_total",
			"Calls of AWS, by how they were answered.", callLabels...),
		AwsSdkGoRequestRetryCount: r.Histogram("aws_sdk_go_request_retry_count",
			"How often calls of AWS were repeated.", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, callLabels...),
		AwsSdkGoRequestDurationSeconds: r.Histogram("aws_sdk_go_request_duration_seconds",
			"How long calls of AWS took, with repetitions and the time that they waited for their turn.", telemetry.Durations(), callLabels...),
		AwsSdkGoRequestAttemptTotal: r.Counter("aws_sdk_go_request_attempt_total",
			"Attempts to call AWS, by how they were answered.", callLabels...),
		AwsSdkGoRequestAttemptDurationSeconds: r.Histogram("aws_sdk_go_request_attempt_duration_seconds",
			"How long single attempts to call AWS took.", telemetry.Durations(), callLabels...),
	}
	return m, r.Families, r.Err()
}

// callLabels are the service, the operation, and the status of HTTP.
var callLabels = []string{"service", "action", "code"}

// batchSizes are fine where batches are small.
func batchSizes() []float64 {
	sizes := []float64{1, 2, 4, 5, 10, 15, 20, 25, 30}
	for _, part := range []struct{ from, to, step float64 }{{40, 100, 10}, {125, 300, 25}, {350, 600, 50}, {700, 1000, 100}} {
		for size := part.from; size <= part.to; size += part.step {
			sizes = append(sizes, size)
		}
	}
	return sizes
}
