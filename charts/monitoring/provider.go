package monitoring

func provider() Dashboard {
	return Dashboard{
		Name: "provider", Title: "Tenon / Cloud provider", Help: "How the cloud answers (calls, errors, shortages, interruptions), and what the process uses.",
		Rows: []Row{
			{"Provider", []Panel{
				{Title: "Calls", Help: "Calls of the provider in a second, by method.", Unit: perSecond, Queries: one(rate("method", "karpenter_cloudprovider_duration_seconds_count"), "{{method}}")},
				{Title: "Errors", Help: "Calls a second that failed. InsufficientCapacityError is a shortage and NodeClaimNotFoundError an answer; for errors without a kind, look at the log.", Unit: perSecond, Queries: one(rate("method, error", "karpenter_cloudprovider_errors_total"), "{{method}} {{error}}")},
				{Title: "Duration", Help: "How long the slowest calls took.", Unit: seconds, Queries: one(quantile("0.95", "method", "karpenter_cloudprovider_duration_seconds_bucket"), "{{method}}")},
				{Title: "Classes that are not ready", Help: "1 while a class cannot be used: pools that refer to it buy nothing. `kubectl describe ec2nodeclass NAME` says why.", Unit: count, Queries: one(`sum by (name) (operator_ec2nodeclass_status_condition_count{type="Ready",status="False"})`, "{{name}}")},
			}},
			{"Machines", []Panel{
				{Title: "Launches that failed", Help: "Offers of launches, an hour, that did not lead to an instance, by reason.", Unit: count, Queries: one("sum by (reason) (increase(karpenter_cloudprovider_instance_launch_failures_total[1h]))", "{{reason}}")},
				{Title: "Shortages by zone", Help: "The same by zone and capacity type. A pool that may use more zones or types has fewer.", Unit: count, Queries: one("sum by (zone, capacity_type) (increase(karpenter_cloudprovider_instance_launch_failures_total[1h]))", "{{zone}} {{capacity_type}}")},
				{Title: "Instances that could not be ended", Help: "They cost money until they are.", Unit: count, Queries: one("sum by (zone) (increase(karpenter_cloudprovider_instance_termination_failures_total[1h]))", "{{zone}}")},
				{Title: "Unhealthy instances", Help: "Instances an hour whose status became unhealthy, by what is wrong.", Unit: count, Queries: one("sum by (category) (increase(karpenter_interruption_instance_status_unhealthy_total[1h]))", "{{category}}")},
			}},
			{"Interruptions", []Panel{
				{Title: "Announcements", Help: "Messages of the interruption queue an hour, by what they announce.", Unit: count, Queries: one("sum by (message_type) (increase(karpenter_interruption_received_messages_total[1h]))", "{{message_type}}")},
				{Title: "Until an announcement is handled", Help: "A spot instance has two minutes from its announcement.", Unit: seconds, Queries: spread("karpenter_interruption_message_queue_duration_seconds_bucket")},
			}},
			{"AWS", []Panel{
				{Title: "Calls by action", Help: "Calls of AWS in a second.", Unit: perSecond, Queries: one(rate("service, action", "aws_sdk_go_request_total"), "{{service}} {{action}}")},
				{Title: "Calls by answer", Help: "Calls of AWS in a second, by how they were answered.", Unit: perSecond, Queries: one(rate("code", "aws_sdk_go_request_total"), "{{code}}")},
				{Title: "Duration by action", Help: "How long the slowest calls took, including repetitions and waiting for the rate limit.", Unit: seconds, Queries: one(quantile("0.95", "action", "aws_sdk_go_request_duration_seconds_bucket"), "{{action}}")},
				{Title: "Attempts for each call", Help: "More than 1 where calls are repeated, as they are when AWS throttles.", Unit: count, Queries: one(rate("action", "aws_sdk_go_request_attempt_total")+" / "+rate("action", "aws_sdk_go_request_total"), "{{action}}")},
			}},
			{"Process", []Panel{
				{Title: "Replicas", Help: "Replicas that answer, and the one that leads.", Unit: count, Queries: []Query{
					{"count(karpenter_build_info)", "replicas"},
					{"sum(leader_election_master_status)", "leaders"}}},
				{Title: "Memory", Help: "Memory of each replica.", Unit: size, Queries: one("sum by (instance) (process_resident_memory_bytes and on (instance) karpenter_build_info)", "{{instance}}")},
				{Title: "Processors", Help: "Processors that each replica uses.", Unit: count, Queries: one("sum by (instance) (rate(process_cpu_seconds_total["+Interval+"]) and on (instance) karpenter_build_info)", "{{instance}}")},
				{Title: "Series", Help: "The number of time series, and what it would be without a bound. If the second is larger, metrics have lost labels.", Unit: count, Queries: []Query{
					{"max(karpenter_metrics_series_exposed)", "exposed"},
					{"max(karpenter_metrics_series_gathered)", "without a bound"}}},
			}},
		},
	}
}
