package reconcile

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"tenon/internal/telemetry"
)

// A call runs under its controller's name, so that metrics of what it calls can name it.
func TestCallsRunUnderTheirControllersName(t *testing.T) {
	t.Parallel()
	var got string
	c := Controller{Name: "some.controller", Reconcile: func(ctx context.Context, _ Key) (Result, error) {
		got = telemetry.ControllerOf(ctx)
		return Never, nil
	}}
	if _, err := adapter(c)(t.Context(), reconcile.Request{}); err != nil || got != c.Name {
		t.Errorf("runs under %q, %v", got, err)
	}
}
