package reconcile_test

import (
	"context"
	"slices"
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

// Of the keys of a controller that yields, one asks whether the process is still busy. The others are woken when it no longer is.
func TestOneKeyAsksForAllThatYield(t *testing.T) {
	t.Parallel()
	busy := true
	var worked, woken []string
	yields := reconcile.Yielding([]reconcile.Controller{{
		Yields: true,
		Reconcile: func(_ context.Context, key reconcile.Key) (reconcile.Result, error) {
			worked = append(worked, key.Name)
			return reconcile.Never, nil
		},
	}}, func() bool { return busy })[0]
	yields.SubscribeKeys(func(keys ...reconcile.Key) {
		for _, key := range keys {
			woken = append(woken, key.Name)
		}
	})
	look := func(name string) bool {
		result, err := yields.Reconcile(t.Context(), reconcile.Key{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return result != reconcile.Never
	}
	for _, step := range []struct {
		name  string
		again bool
	}{{"a", true}, {"c", false}, {"b", false}, {"c", false}, {"a", true}} {
		if again := look(step.name); again != step.again || len(worked)+len(woken) > 0 {
			t.Errorf("busy: %s looks again %t; worked %v, woken %v", step.name, again, worked, woken)
		}
	}
	busy = false
	for _, name := range []string{"a", "b"} {
		if look(name) {
			t.Errorf("idle: %s looks again", name)
		}
	}
	if !slices.Equal(worked, []string{"a", "b"}) || !slices.Equal(woken, []string{"b", "c"}) {
		t.Errorf("idle: worked %v, woken %v", worked, woken)
	}
}
