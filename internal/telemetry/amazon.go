package telemetry

import "github.com/prometheus/client_golang/prometheus"

// awsMetrics are those of the AWS provider and its controllers.
type awsMetrics struct {
	InterruptionReceivedMessagesTotal              *prometheus.CounterVec
	InterruptionDeletedMessagesTotal               *prometheus.CounterVec
	InterruptionMessageQueueDurationSeconds        *prometheus.HistogramVec
	InterruptionInstanceStatusUnhealthyTotal       *prometheus.CounterVec
	CloudproviderInstanceTypeCpuCores              *prometheus.GaugeVec
	CloudproviderInstanceTypeMemoryBytes           *prometheus.GaugeVec
	CloudproviderInstanceTypeOfferingAvailable     *prometheus.GaugeVec
	CloudproviderInstanceTypeOfferingPriceEstimate *prometheus.GaugeVec
	CloudproviderInstanceLaunchFailuresTotal       *prometheus.CounterVec
	CloudproviderInstanceTerminationFailuresTotal  *prometheus.CounterVec
	CloudproviderBatcherBatchTimeSeconds           *prometheus.HistogramVec
	CloudproviderBatcherBatchSize                  *prometheus.HistogramVec
	Ec2nodeclassesUserdataBytes                    *prometheus.GaugeVec
	AwsSdkGoRequestTotal                           *prometheus.CounterVec
	AwsSdkGoRequestRetryCount                      *prometheus.HistogramVec
	AwsSdkGoRequestDurationSeconds                 *prometheus.HistogramVec
	AwsSdkGoRequestAttemptTotal                    *prometheus.CounterVec
	AwsSdkGoRequestAttemptDurationSeconds          *prometheus.HistogramVec
}

func newAWSMetrics(r *register) awsMetrics {
	return awsMetrics{
		InterruptionReceivedMessagesTotal: r.counter("interruption_received_messages_total",
			"Messages of the interruption queue, by what they announce.", "message_type"),
		InterruptionDeletedMessagesTotal: r.counter("interruption_deleted_messages_total",
			"Messages of the interruption queue that were handled and deleted."),
		InterruptionMessageQueueDurationSeconds: r.histogram("interruption_message_queue_duration_seconds",
			"Time from an announcement until it was handled.", durations()),
		InterruptionInstanceStatusUnhealthyTotal: r.counter("interruption_instance_status_unhealthy_total",
			"Instances whose status became unhealthy, by what is wrong.", "category"),
		CloudproviderInstanceTypeCpuCores: r.gauge("cloudprovider_instance_type_cpu_cores",
			"Processors of an instance type.", "instance_type"),
		CloudproviderInstanceTypeMemoryBytes: r.gauge("cloudprovider_instance_type_memory_bytes",
			"Memory of an instance type, as published.", "instance_type"),
		CloudproviderInstanceTypeOfferingAvailable: r.gauge("cloudprovider_instance_type_offering_available",
			"Whether an offering can be had: 1, or 0.", "instance_type", "capacity_type", "zone"),
		CloudproviderInstanceTypeOfferingPriceEstimate: r.gauge("cloudprovider_instance_type_offering_price_estimate",
			"Price of an offering for an hour.", "instance_type", "capacity_type", "zone"),
		CloudproviderInstanceLaunchFailuresTotal: r.counter("cloudprovider_instance_launch_failures_total",
			"Ways of a launch that did not lead to an instance, by why.", "zone", "zone_id", "capacity_type", "reason"),
		CloudproviderInstanceTerminationFailuresTotal: r.counter("cloudprovider_instance_termination_failures_total",
			"Instances that could not be terminated when they should have been.", "zone", "zone_id"),
		CloudproviderBatcherBatchTimeSeconds: r.histogram("cloudprovider_batcher_batch_time_seconds",
			"How long requests were collected before they were sent as one.", durations(), "batcher"),
		CloudproviderBatcherBatchSize: r.histogram("cloudprovider_batcher_batch_size",
			"How many requests were sent as one.", batchSizes(), "batcher"),
		Ec2nodeclassesUserdataBytes: r.gauge("ec2nodeclasses_userdata_bytes",
			"Size of the user data in a class's last launch template.", "nodeclass"),
		AwsSdkGoRequestTotal: r.counter("aws_sdk_go_request_total",
			"Calls of AWS, by how they were answered.", callLabels...),
		AwsSdkGoRequestRetryCount: r.histogram("aws_sdk_go_request_retry_count",
			"How often calls of AWS were repeated.", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, callLabels...),
		AwsSdkGoRequestDurationSeconds: r.histogram("aws_sdk_go_request_duration_seconds",
			"How long calls of AWS took, with repetitions and the time that they waited for their turn.", durations(), callLabels...),
		AwsSdkGoRequestAttemptTotal: r.counter("aws_sdk_go_request_attempt_total",
			"Attempts to call AWS, by how they were answered.", callLabels...),
		AwsSdkGoRequestAttemptDurationSeconds: r.histogram("aws_sdk_go_request_attempt_duration_seconds",
			"How long single attempts to call AWS took.", durations(), callLabels...),
	}
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
