package assembly

import (
	appsv1 "k8s.io/api/apps/v1"

	"tenon/internal/controller/eviction"
	"tenon/internal/controller/node/health"
	"tenon/internal/controller/node/termination"
	"tenon/internal/reconcile"
)

func nodes(p Parts) []reconcile.Controller {
	return append(health.New(p.Kit), termination.New(p.Kit), eviction.New(p.Kit, eviction.Options{Rolled: func(d *appsv1.Deployment) { p.World.Put(d) }, Turn: p.World.Turn}))
}
