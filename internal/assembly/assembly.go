// Package assembly is the list of what runs in the product: every controller, made from
// one set of parts. The process runs the list on controller-runtime, the simulation steps
// through it.
//
// It must not contain rules. A controller runs only if it is in this list.
package assembly

import (
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/cloud"
	"tenon/core/decide"
	"tenon/core/requirement"
	"tenon/internal/evaluation"
	"tenon/internal/expander"
	"tenon/internal/ingest"
	"tenon/internal/journal"
	"tenon/internal/market"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
	"tenon/internal/rolloutpace"
	"tenon/internal/savings"
	"tenon/internal/versionguard"
	"tenon/internal/world"
)

// Parts are what the controllers share.
type Parts struct {
	Kit     reconcile.Kit
	World   *world.World
	Market  *market.Market
	Tracker *registration.Tracker
	// Synced reports whether the world knows all objects that existed at the start.
	Synced func() bool
	// Suffix makes the ends of names.
	Suffix func() string
	// Journal keeps decisions and what came of them; nil keeps none.
	Journal *journal.Journal
	// Expander is the server of the expander grpc; nil is none.
	Expander expander.Server
	// Effort bounds each decision; zero means the core's default.
	Effort decide.Budget
	// Pause is the least time between two evaluations of the fleet; zero is the usual one.
	Pause time.Duration
	// Nominations writes nominations. The default is the kit's client, in whose rate limit nominations
	// would delay evictions.
	Nominations client.StatusClient
	// Namespace is where the market is published; empty publishes none.
	Namespace string
	// Parallel is how many writes a controller may make at the same time; with one, nothing runs
	// beside it.
	Parallel int
}

// New makes the parts that follow from a kit. The caller fills in the rest.
func New(kit reconcile.Kit) Parts {
	kit.Client = versionguard.Client(kit.Client, kit.Clock)
	p := Parts{
		Kit: kit, World: World(kit), Tracker: registration.New(),
		Market: market.New(kit.Cloud, kit.Settings.FeatureGates.NodeOverlay),
	}
	p.Nominations = kit.Client
	p.Market.Subscribe(p.World.Reprice)
	return p
}

// World makes the picture that the parts are about.
func World(kit reconcile.Kit) *world.World { return world.New(Reading(kit), kit.Clock) }

// Reading is how objects are read, as the settings and the cloud have it.
func Reading(kit reconcile.Kit) ingest.Options {
	d := kit.Cloud.Describe()
	out := ingest.Options{
		Settings:                kit.Settings.Decision(),
		Vocabulary:              d.Vocabulary(),
		Managed:                 managed(d),
		NodePrice:               kit.Settings.NodePrice,
		ReservationLabel:        d.ReservationLabel,
		DefaultSpreads:          kit.Settings.SchedulerConfig.PodTopologySpread.DefaultConstraints,
		UnsupportedDrivers:      keys(d.UnsupportedDrivers),
		UnsupportedTopologyKeys: keys(d.UnsupportedVolumeKeys),
		Buffers:                 kit.Settings.FeatureGates.CapacityBuffer,
		Bookings:                ingest.Bookings{Enabled: kit.Settings.ProvisioningRequests.Enabled, Instance: kit.Settings.ProvisioningRequests.Instance},
		GroupTaints:             kit.Settings.GroupTaints,
		Schedulers:              kit.Settings.AllowedSchedulers,
		Unjudged:                true,
	}
	if kit.Settings.FeatureGates.NodeGroups {
		out.ScaleDown = &kit.Settings.ScaleDown
	}
	return out
}

// Controllers are all of the product's that do not belong to one cloud.
func Controllers(p Parts) []reconcile.Controller {
	s := sharedParts{rollouts: rolloutpace.New(p.Kit), ledger: savings.New(p.Kit), board: evaluation.NewNodes()}
	return slices.Concat(decisions(p, s), claims(p), nodes(p), pools(p), gauges(p))
}

// sharedParts is what several lists of controllers use.
type sharedParts struct {
	rollouts *rolloutpace.Rollouts
	ledger   *savings.Accounts
	board    *evaluation.Nodes
}

func managed(d cloud.Description) func(group, kind string) bool {
	return func(group, kind string) bool { return d.Supports(cloud.ClassRef{Group: group, Kind: kind}) }
}

func keys(list []string) requirement.KeySet { return requirement.NewKeySet(list...) }
