// Package assembly is the list of what runs in the product: every controller, made from
// one set of parts. The process runs the list on controller-runtime, the simulation steps
// through it.
//
// It must not contain a rule of its own: a controller that is here runs, one that is not
// does not.
package assembly

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"tenon/cloud"
	"tenon/core/decide"
	"tenon/core/requirement"
	"tenon/internal/controller/census"
	"tenon/internal/controller/consistency"
	"tenon/internal/controller/counter"
	"tenon/internal/controller/disruption"
	"tenon/internal/controller/eviction"
	"tenon/internal/controller/expiration"
	"tenon/internal/controller/garbage"
	"tenon/internal/controller/hash"
	"tenon/internal/controller/health"
	"tenon/internal/controller/hydration"
	"tenon/internal/controller/lifecycle"
	"tenon/internal/controller/marking"
	"tenon/internal/controller/meter"
	"tenon/internal/controller/nomination"
	"tenon/internal/controller/overlay"
	"tenon/internal/controller/pacing"
	"tenon/internal/controller/podevents"
	"tenon/internal/controller/readiness"
	"tenon/internal/controller/refused"
	"tenon/internal/controller/repair"
	"tenon/internal/controller/static"
	"tenon/internal/controller/tally"
	"tenon/internal/controller/termination"
	"tenon/internal/controller/transition"
	"tenon/internal/controller/validation"
	"tenon/internal/controller/verdict"
	"tenon/internal/execute"
	"tenon/internal/ingest"
	"tenon/internal/loop"
	"tenon/internal/market"
	"tenon/internal/prospect"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
	"tenon/internal/rollout"
	"tenon/internal/savings"
	"tenon/internal/stale"
	"tenon/internal/supply"
	"tenon/internal/world"
)

// Parts are what the controllers share.
type Parts struct {
	Kit     reconcile.Kit
	World   *world.World
	Market  *market.Market
	Tracker *registration.Tracker
	// Synced reports whether the world has been told all that was there at the start.
	Synced func() bool
	// Suffix makes the ends of names.
	Suffix func() string
	// Effort bounds each decision; the zero value is what the core thinks right.
	Effort decide.Budget
	// Pause is the least time between two evaluations of the fleet; zero is the usual one.
	Pause time.Duration
	// Parallel is how many writes a controller may make at the same time; with one, nothing runs
	// beside it.
	Parallel int
}

// New makes the parts that follow from a kit. The caller says the rest.
func New(kit reconcile.Kit) Parts {
	kit.Client = stale.Client(kit.Client, kit.Clock)
	p := Parts{
		Kit: kit, World: World(kit), Tracker: registration.New(),
		Market: market.New(kit.Cloud, kit.Settings.FeatureGates.NodeOverlay),
	}
	p.Market.Subscribe(p.World.Reprice)
	return p
}

// World makes the picture that the parts are about.
func World(kit reconcile.Kit) *world.World { return world.New(Reading(kit), kit.Clock) }

// Reading is how objects are read, as the settings and the cloud have it.
func Reading(kit reconcile.Kit) ingest.Options {
	d := kit.Cloud.Describe()
	return ingest.Options{
		Vocabulary:              d.Vocabulary(),
		Managed:                 managed(d),
		NodePrice:               kit.Settings.NodePrice,
		ReservationLabel:        d.ReservationLabel,
		DefaultSpreads:          kit.Settings.SchedulerConfig.PodTopologySpread.DefaultConstraints,
		UnsupportedDrivers:      keys(d.UnsupportedDrivers),
		UnsupportedTopologyKeys: keys(d.UnsupportedVolumeKeys),
		Unjudged:                true,
	}
}

// Controllers are all of the product's that do not belong to one cloud.
func Controllers(p Parts) []reconcile.Controller {
	return slices.Concat(decisions(p), claims(p), nodes(p), pools(p), gauges(p))
}

// decisions are those who ask the core: what to buy, and what to give up.
func decisions(p Parts) []reconcile.Controller {
	offers, executor := supply.New(p.Kit.Clock, p.Market, p.Tracker), execute.New(p.Kit, p.World, p.Parallel)
	rollouts, ledger, board := rollout.New(p.Kit), savings.New(p.Kit), prospect.NewBoard()
	provisioner := loop.New(p.Kit, loop.Options{
		World: p.World, Supply: offers, Executor: executor, Ledger: ledger, Synced: p.Synced, Suffix: p.Suffix,
		Effort: p.Effort,
	})
	return append(disruption.New(p.Kit, disruption.Options{
		World: p.World, Supply: offers, Executor: executor, Synced: p.Synced, Suffix: p.Suffix,
		Rollouts: rollouts, Ledger: ledger, Tell: board.Put, Effort: p.Effort, Pause: p.Pause, Parallel: p.Parallel,
	}), provisioner, pacing.New(p.Kit, rollouts), verdict.New(p.Kit, board), refused.New(p.Kit, p.World))
}

func claims(p Parts) []reconcile.Controller {
	nominator := nomination.New(p.Kit, p.World, p.Parallel)
	return append(hydration.New(p.Kit), marking.New(p.Kit, p.Market), podevents.New(p.Kit), nominator.Controller(),
		lifecycle.At(p.Kit, p.Tracker, p.Market, nominator), expiration.New(p.Kit), garbage.New(p.Kit, min(p.Parallel, garbage.Workers)), consistency.New(p.Kit),
	)
}

func nodes(p Parts) []reconcile.Controller {
	return append(repair.New(p.Kit), termination.New(p.Kit), eviction.New(p.Kit, func(d *appsv1.Deployment) { p.World.Put(d) }))
}

func pools(p Parts) []reconcile.Controller {
	return append(append(overlay.New(p.Kit, p.Market), static.New(p.Kit)...),
		hash.New(p.Kit), counter.New(p.Kit), readiness.New(p.Kit), validation.New(p.Kit), health.New(p.Kit, p.Tracker),
	)
}

// gauges only look.
func gauges(p Parts) []reconcile.Controller {
	return slices.Concat(transition.New(p.Kit), census.New(p.Kit), meter.New(p.Kit), tally.New(p.Kit, p.Market))
}

func managed(d cloud.Description) func(group, kind string) bool {
	return func(group, kind string) bool { return d.Supports(cloud.ClassRef{Group: group, Kind: kind}) }
}

func keys(list []string) requirement.KeySet { return requirement.NewKeySet(list...) }
