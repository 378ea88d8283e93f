package assembly

import (
	"slices"

	"tenon/internal/controller/intervention"
	"tenon/internal/controller/metrics/cost"
	"tenon/internal/controller/metrics/node"
	"tenon/internal/controller/metrics/nodepool"
	"tenon/internal/controller/metrics/pod"
	"tenon/internal/controller/metrics/status"
	"tenon/internal/reconcile"
)

// gauges only look.
func gauges(p Parts) []reconcile.Controller {
	return slices.Concat(status.New(p.Kit), pod.New(p.Kit), node.New(p.Kit), nodepool.New(p.Kit), cost.New(p.Kit, p.Market), intervention.New(p.Kit, p.Journal))
}
