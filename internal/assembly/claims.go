package assembly

import (
	"tenon/internal/controller/nodeclaim/consistency"
	"tenon/internal/controller/nodeclaim/disruption"
	"tenon/internal/controller/nodeclaim/expiration"
	"tenon/internal/controller/nodeclaim/garbagecollection"
	"tenon/internal/controller/nodeclaim/hydration"
	"tenon/internal/controller/nodeclaim/lifecycle"
	"tenon/internal/controller/nodeclaim/podevents"
	"tenon/internal/controller/pod/nomination"
	"tenon/internal/reconcile"
)

func claims(p Parts) []reconcile.Controller {
	nominator := nomination.New(p.Kit, p.World, p.Nominations, p.Parallel)
	return append(hydration.New(p.Kit), disruption.New(p.Kit, p.Market), podevents.New(p.Kit), nominator.Controller(),
		lifecycle.At(p.Kit, p.Tracker, p.Market, nominator, p.Parallel > 1), expiration.New(p.Kit), garbagecollection.New(p.Kit, min(p.Parallel, garbagecollection.Workers)), consistency.New(p.Kit),
	)
}
