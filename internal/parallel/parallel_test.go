package parallel_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tenon/internal/parallel"
)

// TestNeverMoreThanAllowed: with three at once and ten to do, three run at the same time.
func TestNeverMoreThanAllowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most, done atomic.Int32
		parallel.Run(3, 10, func(int) {
			now := running.Add(1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			time.Sleep(time.Second) // in the bubble: until all who may run do
			running.Add(-1)
			done.Add(1)
		})
		if most.Load() != 3 || done.Load() != 10 {
			t.Errorf("%d at the same time and %d done, want 3 and 10", most.Load(), done.Load())
		}
	})
}

// TestOneAtATimeKeepsTheOrder: nothing is started beside the caller.
func TestOneAtATimeKeepsTheOrder(t *testing.T) {
	t.Parallel()
	var order []int
	parallel.Run(1, 4, func(i int) { order = append(order, i) })
	if !slices.Equal(order, []int{0, 1, 2, 3}) {
		t.Errorf("order %v", order)
	}
}

// TestAllIsTried: a failure keeps nothing else from being done, and errors come in order.
func TestAllIsTried(t *testing.T) {
	t.Parallel()
	for _, atOnce := range []int{1, 4} {
		var tried atomic.Int32
		err := parallel.Try(atOnce, []int{1, 2, 3, 4, 5}, func(n int) error {
			tried.Add(1)
			if n%2 == 0 {
				return fmt.Errorf("%d is even", n)
			}
			return nil
		})
		if err == nil || err.Error() != "2 is even\n4 is even" || tried.Load() != 5 {
			t.Errorf("%d at once: %d tried, error %v", atOnce, tried.Load(), err)
		}
		if err := parallel.Try(atOnce, []int{1}, func(int) error { return nil }); err != nil {
			t.Errorf("%d at once: error %v without trouble", atOnce, errors.Unwrap(err))
		}
	}
}
