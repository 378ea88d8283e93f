// Package providers asks AWS again, on a schedule, for what changes by itself: prices,
// instance types, images that are followed, and the version of the cluster. It also has launch
// templates deleted that are not needed any more.
//
// The provider keeps the answers; the package must not look at them.
package providers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tenon/internal/reconcile"
)

// Source is what is asked.
type Source interface {
	UpdatePrices(ctx context.Context) error
	UpdateTypes(ctx context.Context) (changed bool, err error)
	RecheckImages(ctx context.Context) error
	Version(ctx context.Context) (string, error)
}

// How often. (As in Karpenter.)
const (
	pricesEvery  = 12 * time.Hour
	typesEvery   = 12 * time.Hour
	imagesEvery  = 30 * time.Minute
	versionEvery = 5 * time.Minute
)

// patience is for services that may be unreachable for ever, such as prices in private networks.
var patience = reconcile.Backoff{First: 5 * time.Second, Longest: 10 * time.Minute}

// New makes the controllers.
func New(_ reconcile.Kit, source Source) []reconcile.Controller {
	v := &version{source: source}
	return []reconcile.Controller{
		every("providers.pricing", pricesEvery, source.UpdatePrices),
		every("providers.instancetype", typesEvery, func(ctx context.Context) error {
			changed, err := source.UpdateTypes(ctx)
			if changed {
				reconcile.Log(ctx).V(1).Info("discovered instance types")
			}
			return err
		}),
		every("providers.ssm.invalidation", imagesEvery, source.RecheckImages),
		every("providers.version", versionEvery, v.check),
	}
}

func every(name string, period time.Duration, ask func(context.Context) error) reconcile.Controller {
	return reconcile.Controller{
		Name: name, Workers: reconcile.One, Retry: patience,
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			if err := ask(ctx); err != nil {
				return reconcile.Never, err
			}
			return reconcile.In(period), nil
		},
	}
}

// version warns once of each version that was not tested.
type version struct {
	source Source

	mu   sync.Mutex
	last string
}

const oldest, newest = 26, 36

func (v *version) check(ctx context.Context) error {
	now, err := v.source.Version(ctx)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if now != v.last && !supported(now) {
		reconcile.Log(ctx).Error(fmt.Errorf("version %s is not one of 1.%d to 1.%d", now, oldest, newest), "karpenter is not compatible with kubernetes version", "version", now)
	}
	v.last = now
	return nil
}

func supported(text string) bool {
	var minor int
	n, err := fmt.Sscanf(text, "1.%d", &minor)
	return n == 1 && err == nil && minor >= oldest && minor <= newest
}
