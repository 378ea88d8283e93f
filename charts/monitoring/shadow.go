package monitoring

func shadow() Dashboard {
	return Dashboard{
		Name: "shadow", Title: "Tenon / Shadow mode", Help: "The fleet of the other autoscaler (incumbent), and what it would be with Tenon. Empty outside of shadow mode.",
		Rows: []Row{{"Comparison", []Panel{
			{Title: "Price an hour", Help: "What the nodes cost an hour.", Unit: dollars, Queries: one("max by (side) (karpenter_shadow_price)", "{{side}}")},
			{Title: "Cost so far", Help: "What the nodes have cost since the process started.", Unit: dollars, Queries: one("max by (side) (karpenter_shadow_cost)", "{{side}}")},
			{Title: "Nodes", Help: "How many nodes there are, and would be.", Unit: count, Queries: one("max by (side) (karpenter_shadow_nodes)", "{{side}}")},
			{Title: "Evictions", Help: "Pods on nodes that were removed, and pods that Tenon would have moved, since the process started.", Unit: count, Queries: one("max by (side) (karpenter_shadow_evictions)", "{{side}}")},
			{Title: "Waiting", Help: "How long pods waited for a node, and for Tenon's decision, in total.", Unit: seconds, Queries: one("max by (side) (karpenter_shadow_wait_seconds)", "{{side}}")},
		}}},
	}
}
