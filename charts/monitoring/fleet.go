package monitoring

const ofPool = `{nodepool=~"` + Pool + `"}`

func fleet() Dashboard {
	cost := "sum(max by (nodepool) (karpenter_nodepools_cost_total" + ofPool + "))"
	return Dashboard{
		Name: "fleet", Title: "Tenon / Fleet and cost", Help: "Which nodes there are, what they cost, and how much of them is used.",
		Rows: []Row{
			{"Now", []Panel{
				{Title: "Price an hour", Help: "What the nodes of the chosen pools cost an hour. There is no number while the cloud gives no prices.", Number: true, Unit: dollars, Queries: one(cost, "")},
				{Title: "Price a month", Help: "The price an hour, for 730 hours.", Number: true, Unit: dollars, Queries: one(cost+" * 730", "")},
				{Title: "Nodes", Help: "Nodes in the picture of the cluster that decisions are made from.", Number: true, Unit: count, Queries: one("max(karpenter_cluster_state_node_count)", "")},
				{Title: "Pods without a place", Help: "Pods for which the last decision found no place. `tenon explain pod NAME` says why.", Number: true, Unit: count, Queries: one("sum(max by (controller) (karpenter_scheduler_unschedulable_pods_count))", "")},
			}},
			{"Cost", []Panel{
				{Title: "Price an hour by pool", Help: "What the nodes of each pool cost an hour.", Unit: dollars, Queries: one("max by (nodepool) (karpenter_nodepools_cost_total"+ofPool+")", "{{nodepool}}")},
				{Title: "Missing prices", Help: "How often the price of a pool could not be added up in full in the last hour. While it grows, the pool costs more than is shown.", Unit: count, Queries: one("sum by (nodepool) (increase(karpenter_nodepools_cost_tracker_errors_total"+ofPool+"[1h]))", "{{nodepool}}")},
				{Title: "Savings of moves", Help: "What consolidations were expected to save an hour, and what they did save. If the second stays below the first, moves save less than their evictions are worth.", Unit: dollars, Queries: []Query{
					{"sum(max by (nodepool) (karpenter_nodepools_savings_predicted" + ofPool + "))", "expected"},
					{"sum(max by (nodepool) (karpenter_nodepools_savings_realised" + ofPool + "))", "realised"}}},
				{Title: "Caution", Help: "How many times as much as usual an eviction has to save in a pool: more than 1 where moves have brought less than was expected.", Unit: count, Queries: one("max by (nodepool) (karpenter_nodepools_savings_caution"+ofPool+")", "{{nodepool}}")},
			}},
			{"Use", []Panel{
				{Title: "Requested share", Help: "Share of all nodes' allocatable resources that pods request.", Unit: percent, Queries: one(`max by (resource_type) (karpenter_cluster_utilization_percent{resource_type=~"cpu|memory"})`, "{{resource_type}}")},
				{Title: "Share of daemons", Help: "Share of nodes' allocatable resources that pods of DaemonSets request. With larger nodes there are fewer of them.", Unit: share, Queries: one(
					`sum by (resource_type) (karpenter_nodes_total_daemon_requests{resource_type=~"cpu|memory"}) / sum by (resource_type) (karpenter_nodes_allocatable{resource_type=~"cpu|memory"})`, "{{resource_type}}")},
				{Title: "Idle share", Help: "Share of nodes' allocatable resources that no pod requests.", Unit: share, Queries: one(
					`1 - sum by (resource_type) (karpenter_nodes_total_pod_requests{resource_type=~"cpu|memory"}) / sum by (resource_type) (karpenter_nodes_allocatable{resource_type=~"cpu|memory"})`, "{{resource_type}}")},
				{Title: "Share of limits", Help: "How much of its limit each pool has. At 1 the pool buys nothing more.", Unit: share, Queries: one(
					"max by (nodepool, resource_type) (karpenter_nodepools_usage"+ofPool+") / max by (nodepool, resource_type) (karpenter_nodepools_limit"+ofPool+")", "{{nodepool}} {{resource_type}}")},
			}},
			{"Kinds", []Panel{
				{Title: "Processors by capacity type", Help: "The capacity type of the processors that pods can use.", Unit: count, Queries: one(`sum by (capacity_type) (karpenter_nodes_allocatable{resource_type="cpu"})`, "{{capacity_type}}")},
				{Title: "Processors by zone", Help: "The zone of the processors that pods can use.", Unit: count, Queries: one(`sum by (zone) (karpenter_nodes_allocatable{resource_type="cpu"})`, "{{zone}}")},
				{Title: "Pods by phase", Help: "All pods, by their phase.", Unit: count, Queries: one("sum by (phase) (karpenter_pods_state)", "{{phase}}")},
				{Title: "Nodes added and removed", Help: "Nodes an hour that joined, and that were drained and removed.", Unit: count, Queries: []Query{
					{"sum(increase(karpenter_nodes_created_total" + ofPool + "[1h]))", "joined"},
					{"sum(increase(karpenter_nodes_terminated_total" + ofPool + "[1h]))", "removed"}}},
			}},
		},
	}
}
