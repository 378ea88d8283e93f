package providers_test

import (
	"context"
	"errors"
	"testing"

	"tenon/internal/aws/controller/providers"
	"tenon/internal/reconcile"
)

type tidier func() error

func (t tidier) Tidy(context.Context) error { return t() }

// Each round tidies once; what fails is tried again.
func TestLaunchTemplatesAreTidied(t *testing.T) {
	t.Parallel()
	rounds, failure := 0, errors.New("down")
	c := providers.NewTidying(tidier(func() error {
		rounds++
		if rounds == 2 {
			return failure
		}
		return nil
	}))
	result, err := c.Reconcile(t.Context(), reconcile.Key{})
	if err != nil || result == reconcile.Never || rounds != 1 || !c.Singleton() {
		t.Errorf("round %d gives %v, error %v", rounds, result, err)
	}
	if _, err := c.Reconcile(t.Context(), reconcile.Key{}); !errors.Is(err, failure) {
		t.Errorf("error %v, want %v", err, failure)
	}
}
