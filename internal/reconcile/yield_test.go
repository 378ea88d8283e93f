package reconcile_test

import (
	"context"
	"testing"

	"tenon/internal/reconcile"
)

// A controller that yields does nothing while the process is busy, and looks again; others do not wait.
func TestControllersThatYield(t *testing.T) {
	t.Parallel()
	busy, worked := true, map[string]int{}
	controller := func(name string, yields bool) reconcile.Controller {
		return reconcile.Controller{Name: name, Yields: yields, Reconcile: func(context.Context, reconcile.Key) (reconcile.Result, error) {
			worked[name]++
			return reconcile.Never, nil
		}}
	}
	list := reconcile.Yielding([]reconcile.Controller{controller("patient", true), controller("urgent", false)}, func() bool { return busy })
	for _, step := range []struct {
		busy            bool
		patient, urgent int
		again           bool
	}{{true, 0, 1, true}, {false, 1, 2, false}} {
		busy = step.busy
		result, err := list[0].Reconcile(t.Context(), reconcile.Key{})
		if _, wrong := list[1].Reconcile(t.Context(), reconcile.Key{}); err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		if (result != reconcile.Never) != step.again || worked["patient"] != step.patient || worked["urgent"] != step.urgent {
			t.Errorf("busy %t: worked %v, looks again in %s", step.busy, worked, result.After)
		}
	}
}
