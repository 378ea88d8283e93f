package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// A process that ends reports no error of a call that it cut short, and works off no queue.
func TestAProcessThatEnds(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithCancel(t.Context())
	calls := 0
	run := adapter(Controller{Reconcile: func(ctx context.Context, _ Key) (Result, error) {
		calls++
		end()
		return Never, ctx.Err()
	}})
	for range 2 {
		if result, err := run(ctx, reconcile.Request{}); err != nil || result != (reconcile.Result{}) {
			t.Errorf("it returns %v, %v", result, err)
		}
	}
	if calls != 1 {
		t.Errorf("it was called %d times, want once", calls)
	}
}

// Writers that were overtaken look again without a word; every other error is told of.
func TestBeingOvertakenIsNoError(t *testing.T) {
	t.Parallel()
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "nodeclaims"}, "a", errors.New("changed"))
	for name, c := range map[string]struct {
		err  error
		told bool
	}{
		"overtaken":                       {fmt.Errorf("write claim a: %w", conflict), false},
		"overtaken twice":                 {errors.Join(conflict, conflict), false},
		"overtaken, and something broken": {errors.Join(conflict, errors.New("broken")), true},
		"broken":                          {errors.New("broken"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			controller := Controller{Reconcile: func(context.Context, Key) (Result, error) { return Never, c.err }}
			result, err := adapter(controller)(t.Context(), reconcile.Request{})
			if told := err != nil; told != c.told || !told && result.RequeueAfter == 0 {
				t.Errorf("result %+v, error %v", result, err)
			}
		})
	}
}

// Who is overtaken again and again waits longer each time, though never for long, and begins anew
// after a success.
func TestBeingOvertakenAgainWaitsLonger(t *testing.T) {
	t.Parallel()
	var err error = apierrors.NewConflict(schema.GroupResource{Resource: "nodeclaims"}, "a", errors.New("changed"))
	run := adapter(Controller{Reconcile: func(context.Context, Key) (Result, error) { return Never, err }})
	wait := func() time.Duration {
		result, err := run(t.Context(), reconcile.Request{})
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter
	}
	var got []time.Duration
	for range 7 {
		got = append(got, wait()/time.Millisecond)
	}
	if want := []time.Duration{50, 100, 200, 400, 800, 1000, 1000}; !slices.Equal(got, want) {
		t.Errorf("waits %v ms, want %v", got, want)
	}
	conflict := err
	err = nil
	wait()
	err = conflict
	if got := wait(); got != conflictFirst {
		t.Errorf("waits %s after a success", got)
	}
}
