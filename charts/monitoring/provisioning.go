package monitoring

func provisioning() Dashboard {
	return Dashboard{
		Name: "provisioning", Title: "Tenon / Provisioning", Help: "How long pods wait for a node, and where the time goes.",
		Rows: []Row{
			{"Pods", []Panel{
				{Title: "From a pod's creation until it has a node", Help: "What users wait for. Pods that fit on existing nodes count, too.", Unit: seconds, Queries: spread("karpenter_pods_bound_duration_seconds_bucket")},
				{Title: "From seeing a pod until the decision", Help: "Tenon's own share: gathering pods, and deciding.", Unit: seconds, Queries: spread("karpenter_pods_scheduling_decision_duration_seconds_bucket")},
				{Title: "From the decision until the pod has a node", Help: "The cloud's share, and the machine's until it has joined.", Unit: seconds, Queries: spread("karpenter_pods_provisioning_bound_duration_seconds_bucket")},
				{Title: "From the decision until the pod is ready", Help: "The same, with pulling images and starting containers.", Unit: seconds, Queries: spread("karpenter_pods_provisioning_startup_duration_seconds_bucket")},
			}},
			{"Waiting now", []Panel{
				{Title: "Oldest pod without a node", Help: "Age of the pod that has waited longest for a node. `tenon explain pod NAME` says what for.", Unit: seconds, Queries: []Query{
					{"max(karpenter_pods_unbound_time_seconds)", "without a node"},
					{"max(karpenter_pods_provisioning_unbound_time_seconds)", "decided about, without a node"},
					{"max(karpenter_pods_provisioning_scheduling_undecided_time_seconds)", "not decided about"}}},
				{Title: "Pods without a place", Help: "Pods for which the last decision found no place, and those that Tenon ignores because it cannot decide about them.", Unit: count, Queries: []Query{
					{"max by (controller) (karpenter_scheduler_unschedulable_pods_count)", "no place, {{controller}}"},
					{"max(karpenter_scheduler_ignored_pods_count)", "left alone"}}},
				{Title: "Pending pods by zone", Help: "Pending pods by the zone that they have to be in.", Unit: count, Queries: one("max by (zone) (karpenter_scheduler_pending_pods_by_effective_zone_count)", "{{zone}}")},
				{Title: "Pods in the running decision", Help: "Pods about which the running decision has yet to decide.", Unit: count, Queries: one("max by (controller) (karpenter_scheduler_queue_depth)", "{{controller}}")},
			}},
			{"Nodes", []Panel{
				{Title: "Claims by reason", Help: "Claims that are made in a second, by reason.", Unit: perSecond, Queries: one(rate("reason", "karpenter_nodeclaims_created_total"+ofPool), "{{reason}}")},
				{Title: "Until a claim is launched, registered and initialized", Help: "How long the slowest claims take to have an instance (Launched), to join (Registered) and to be ready for pods (Initialized).", Unit: seconds, Queries: one(
					quantile("0.95", "type", `operator_nodeclaim_status_condition_transition_seconds_bucket{status="True",type=~"Launched|Registered|Initialized"}`), "{{type}}")},
				{Title: "Pools whose nodes do not join", Help: "1 while the last nodes of a pool did not join. `kubectl describe nodepool NAME` says what is known about the cause.", Unit: count, Queries: one(
					`sum by (name) (operator_nodepool_status_condition_count{type="NodeRegistrationHealthy",status="False"})`, "{{name}}")},
				{Title: "Pods where they were planned", Help: "Share of pods that landed on the node that was planned for them, or in the place of a similar pod.", Unit: share, Queries: one(
					`sum(rate(karpenter_pods_placements_total{landed="true"}[`+Interval+`])) / sum(rate(karpenter_pods_placements_total[`+Interval+`]))`, "landed")},
			}},
			{"Deciding", []Panel{
				{Title: "Duration of decisions", Help: "How long the slowest decisions took.", Unit: seconds, Queries: one(quantile("0.95", "controller", "karpenter_scheduler_scheduling_duration_seconds_bucket"), "{{controller}}")},
				{Title: "Running decision", Help: "How long the decision that runs now has taken so far.", Unit: seconds, Queries: one("max by (controller) (karpenter_scheduler_unfinished_work_seconds)", "{{controller}}")},
				{Title: "Picture of the cluster incomplete for", Help: "While it is not 0, Tenon decides nothing.", Unit: seconds, Queries: one("max(karpenter_cluster_state_unsynced_time_seconds)", "incomplete")},
				{Title: "Controllers' errors", Help: "Reconciliations a second that ended with an error, by controller. The log has the error.", Unit: perSecond, Queries: one(rate("controller", "controller_runtime_reconcile_errors_total"), "{{controller}}")},
			}},
		},
	}
}
