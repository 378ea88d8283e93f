package providers

import (
	"context"
	"time"

	"tenon/internal/reconcile"
)

// tidyEvery is how often launch templates that are not needed are looked for.
const tidyEvery = 10 * time.Second

// Tidier deletes what is not needed.
type Tidier interface {
	Tidy(ctx context.Context) error
}

// NewTidying makes the controller that has the provider delete the launch templates that it made and no
// longer needs. The provider knows which ones it needs.
func NewTidying(t Tidier) reconcile.Controller {
	return reconcile.Controller{
		Name:    "providers.launchtemplate",
		Workers: reconcile.One,
		Retry:   reconcile.Backoff{First: time.Second, Longest: time.Minute},
		Reconcile: func(ctx context.Context, _ reconcile.Key) (reconcile.Result, error) {
			return reconcile.In(tidyEvery), t.Tidy(ctx)
		},
	}
}
