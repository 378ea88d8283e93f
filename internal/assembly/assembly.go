// Package assembly is the list of what runs in the product: every controller, made from
// one set of parts. The process runs the list on controller-runtime, the simulation steps
// through it.
//
// It must not contain a rule of its own: a controller that is here runs, one that is not
// does not.
package assembly

import (
	"context"
	"errors"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/core/catalog"
	"tenon/core/requirement"
	"tenon/internal/controller/eviction"
	"tenon/internal/controller/lifecycle"
	"tenon/internal/controller/repair"
	"tenon/internal/controller/termination"
	"tenon/internal/execute"
	"tenon/internal/ingest"
	"tenon/internal/loop"
	"tenon/internal/reconcile"
	"tenon/internal/registration"
	"tenon/internal/world"
)

// Parts are what the controllers share.
type Parts struct {
	Kit   reconcile.Kit
	World *world.World
	// Market knows what pools can buy.
	Market loop.Market
	// Synced reports whether the world has been told all that was there at the start.
	Synced func() bool
	// Suffix makes the ends of names.
	Suffix func() string
	// Parallel is how many writes the provisioner makes at the same time.
	Parallel int
}

// World makes the picture that the parts are about.
func World(kit reconcile.Kit) *world.World { return world.New(Reading(kit), kit.Clock) }

// Reading is how objects are read, as the settings and the cloud have it.
func Reading(kit reconcile.Kit) ingest.Options {
	d := kit.Cloud.Describe()
	return ingest.Options{
		Vocabulary:              d.Vocabulary(),
		Managed:                 managed(d),
		ReservationLabel:        d.ReservationLabel,
		DefaultSpreads:          kit.Settings.SchedulerConfig.PodTopologySpread.DefaultConstraints,
		UnsupportedDrivers:      keys(d.UnsupportedDrivers),
		UnsupportedTopologyKeys: keys(d.UnsupportedVolumeKeys),
		Unjudged:                true,
	}
}

// Controllers are all of the product's that do not belong to one cloud.
func Controllers(p Parts) []reconcile.Controller {
	tracker := registration.New()
	out := []reconcile.Controller{
		loop.New(p.Kit, loop.Options{
			World: p.World, Market: p.Market, Executor: execute.New(p.Kit, p.World, p.Parallel),
			Synced: p.Synced, Suffix: p.Suffix,
		}),
		lifecycle.New(p.Kit, tracker),
		termination.New(p.Kit),
		eviction.New(p.Kit),
	}
	return append(out, repair.New(p.Kit)...)
}

// Market is what pools can buy.
func Market(kit reconcile.Kit) loop.Market { return shelf{kit.Cloud} }

// shelf sells what the cloud does.
type shelf struct{ market cloud.Market }

// Catalog is that of the pool's class.
func (s shelf) Catalog(ctx context.Context, pool *karpenterv1.NodePool) (*catalog.Catalog, error) {
	ref := pool.Spec.Template.Spec.NodeClassRef
	if ref == nil {
		return nil, errors.New("spec.template.spec.nodeClassRef is missing")
	}
	return s.market.Catalog(ctx, cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name})
}

func managed(d cloud.Description) func(group, kind string) bool {
	return func(group, kind string) bool { return d.Supports(cloud.ClassRef{Group: group, Kind: kind}) }
}

func keys(list []string) requirement.KeySet { return requirement.NewKeySet(list...) }
