package monitoring

func disruption() Dashboard {
	return Dashboard{
		Name: "disruption", Title: "Tenon / Disruption", Help: "Which nodes are removed and why, what keeps them, and what happens to their pods.",
		Rows: []Row{
			{"Decisions", []Panel{
				{Title: "Disruptions begun", Help: "Disruptions an hour, by reason and decision.", Unit: count, Queries: one("sum by (reason, decision) (increase(karpenter_voluntary_disruption_decisions_total[1h]))", "{{reason}} {{decision}}")},
				{Title: "Nodes that could go", Help: "Nodes that would be removed if that saved enough and was allowed. `tenon explain node NAME` says why one stays.", Unit: count, Queries: one("max by (reason) (karpenter_voluntary_disruption_eligible_nodes)", "{{reason}}")},
				{Title: "Weighed moves", Help: "Consolidations in a second that were weighed, by the verdict.", Unit: perSecond, Queries: one(rate("decision", "karpenter_consolidation_moves_total"+ofPool), "{{decision}}")},
				{Title: "Claims deleted", Help: "Claims an hour that the controller deleted, by reason.", Unit: count, Queries: one("sum by (reason) (increase(karpenter_nodeclaims_disrupted_total"+ofPool+"[1h]))", "{{reason}}")},
			}},
			{"Budgets", []Panel{
				{Title: "Allowed by budgets", Help: "Nodes of a pool that its budgets let be disrupted at the same time. At 0 no node is disrupted for this reason.", Unit: count, Queries: one("max by (nodepool, reason) (karpenter_nodepools_allowed_disruptions"+ofPool+")", "{{nodepool}} {{reason}}")},
				{Title: "Counted against budgets", Help: "Nodes of a pool that its budgets count as being disrupted: those that are being removed, and those that are not ready.", Unit: count, Queries: one("max by (nodepool) (karpenter_nodepools_nodes_consuming_budgets"+ofPool+")", "{{nodepool}}")},
				{Title: "Given up or dropped", Help: "Disruptions an hour that were begun and given up, nodes that failed the second check, and searches that ended before all nodes were considered.", Unit: count, Queries: []Query{
					{"sum(increase(karpenter_voluntary_disruption_queue_failures_total[1h]))", "given up"},
					{"sum(increase(karpenter_voluntary_disruption_failed_validations_total[1h]))", "second look"},
					{"sum(increase(karpenter_voluntary_disruption_consolidation_timeouts_total[1h]))", "ended early"}}},
				{Title: "Age of the oldest verdict", Help: "Every node has been evaluated within this time.", Unit: seconds, Queries: one("max(karpenter_voluntary_disruption_coverage_age_seconds)", "age")},
			}},
			{"Pods", []Panel{
				{Title: "Pods that had to leave", Help: "Pods a second that were evicted or deleted to free a node, by the reason for which the node is removed.", Unit: perSecond, Queries: one(rate("reason", "karpenter_pods_drained_total"), "{{reason}}")},
				{Title: "Answers to evictions", Help: "Requests a second to evict a pod, by the API server's answer. 429 is a PodDisruptionBudget that allows none now, 500 two budgets for one pod.", Unit: perSecond, Queries: one(rate("code", "karpenter_pods_eviction_requests_total"), "{{code}}")},
			}},
			{"Draining", []Panel{
				{Title: "From a claim's deletion until it is gone", Help: "The slowest are held by pods that end slowly, budgets and volumes.", Unit: seconds, Queries: spread("karpenter_nodeclaims_termination_duration_seconds_bucket" + ofPool)},
				{Title: "Until instances have ended", Help: "The cloud's share of that time.", Unit: seconds, Queries: spread("karpenter_nodeclaims_instance_termination_duration_seconds_bucket" + ofPool)},
				{Title: "Longest on its way out", Help: "Time since the deletion of the claim that was deleted longest ago and still exists. `tenon explain node NAME` says which pod holds it.", Unit: seconds, Queries: one("max by (karpenter_sh_nodepool) (operator_nodeclaim_termination_current_time_seconds)", "{{karpenter_sh_nodepool}}")},
				{Title: "Unhealthy nodes replaced", Help: "Claims an hour that were deleted because their node was unhealthy, by the node's condition.", Unit: count, Queries: one("sum by (condition) (increase(karpenter_nodeclaims_unhealthy_disrupted_total"+ofPool+"[1h]))", "{{condition}}")},
				{Title: "Duration of searches", Help: "How long the slowest searches for nodes to disrupt took.", Unit: seconds, Queries: one(quantile("0.95", "reason", "karpenter_voluntary_disruption_decision_evaluation_duration_seconds_bucket"), "{{reason}}")},
				{Title: "Age of removed nodes", Help: "How old nodes are when they are removed. Nodes that live only briefly were not worth their price.", Unit: seconds, Queries: spread("karpenter_nodes_lifetime_duration_seconds_bucket" + ofPool)},
			}},
		},
	}
}
