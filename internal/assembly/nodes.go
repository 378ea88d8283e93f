package assembly

import (
	appsv1 "k8s.io/api/apps/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/controller/eviction"
	"tenon/internal/controller/node/guidance"
	"tenon/internal/controller/node/health"
	"tenon/internal/controller/node/termination"
	"tenon/internal/reconcile"
)

func nodes(p Parts) []reconcile.Controller {
	evictions := eviction.Options{Rolled: func(d *appsv1.Deployment) { p.World.Put(d) }, Turn: p.World.Turn, SubscribeTurns: p.World.SubscribeTurns}
	ends := termination.Options{Ended: p.World.NodeWritten, Shown: func(g *tenonv1alpha1.NodeGroup) { p.World.Put(g) }}
	return append(health.New(p.Kit), termination.New(p.Kit, ends), eviction.New(p.Kit, evictions), guidance.New(p.Kit, p.World, p.Parallel))
}
