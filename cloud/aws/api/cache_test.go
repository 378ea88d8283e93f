package api_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/api"
)

var start = time.Date(2026, time.August, 21, 12, 0, 0, 0, time.UTC)

// The cache asks once for an answer, until the answer is too old or forgotten.
func TestAnswersAreRemembered(t *testing.T) {
	t.Parallel()
	clock := clocktesting.NewFakePassiveClock(start)
	c := api.NewCache[string, int](clock, time.Minute)
	asked := 0
	get := func() int {
		v, err := c.Get(t.Context(), "key", func(context.Context) (int, error) { asked++; return asked, nil })
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for range 2 {
		if get() != 1 {
			t.Error("asked again although the answer is known")
		}
	}
	clock.SetTime(start.Add(time.Minute))
	if get() != 2 {
		t.Error("an answer that is too old was given")
	}
	c.Forget("key")
	if get() != 3 {
		t.Error("a forgotten answer was given")
	}
	if keys := c.Keys(); len(keys) != 1 {
		t.Errorf("keys %v", keys)
	}
}

// The cache does not remember errors.
func TestErrorsAreNotRemembered(t *testing.T) {
	t.Parallel()
	c := api.NewCache[string, int](clocktesting.NewFakePassiveClock(start), time.Minute)
	boom := errors.New("boom")
	if _, err := c.Get(t.Context(), "key", func(context.Context) (int, error) { return 1, boom }); !errors.Is(err, boom) {
		t.Errorf("error %v", err)
	}
	if _, known := c.Peek("key"); known {
		t.Error("the answer that came with an error is remembered")
	}
}

// Callers that want the same answer at the same time share one call, and a caller that gives up does not
// disturb the others.
func TestOneCallForAll(t *testing.T) {
	t.Parallel()
	c := api.NewCache[string, int](clocktesting.NewFakePassiveClock(start), time.Minute)
	var calls atomic.Int32
	release := make(chan struct{})
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			v, err := c.Get(context.Background(), "key", func(context.Context) (int, error) {
				calls.Add(1)
				<-release
				return 7, nil
			})
			if v != 7 || err != nil {
				t.Errorf("got %d, %v", v, err)
			}
		})
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Get(gone, "other", func(ctx context.Context) (int, error) { return 0, ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v of a caller who has gone", err)
	}
	close(release)
	group.Wait()
	if calls.Load() != 1 {
		t.Errorf("%d calls, want 1", calls.Load())
	}
}
