// Package launchtemplate has the provider delete what it made in the cloud and needs no longer:
// launch templates. What is needed it knows itself.
package launchtemplate

import (
	"context"
	"time"

	"tenon/internal/reconcile"
)

// period is between two rounds.
const period = 10 * time.Second

// Tidier deletes what is not needed.
type Tidier interface {
	Tidy(ctx context.Context) error
}

// New makes the controller.
func New(t Tidier) reconcile.Controller {
	return reconcile.Controller{
		Name:    "providers.launchtemplate",
		Workers: reconcile.One,
		Retry:   reconcile.Backoff{First: time.Second, Longest: time.Minute},
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			return reconcile.In(period), t.Tidy(ctx)
		},
	}
}
