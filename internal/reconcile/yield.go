package reconcile

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// yieldPause is how often a controller that yields asks whether it still has to.
const yieldPause = time.Second

// Yielding returns the controllers, of which those that yield do their work later as long as busy says so.
func Yielding(list []Controller, busy func() bool) []Controller {
	out := slices.Clone(list)
	for i := range out {
		if out[i].Yields {
			out[i] = yielding(out[i], busy)
		}
	}
	return out
}

func yielding(c Controller, busy func() bool) Controller {
	y := yielded{keys: map[Key]struct{}{}}
	work, subscribe := c.Reconcile, c.SubscribeKeys
	c.SubscribeKeys = func(wake func(...Key)) {
		y.wake = wake
		if subscribe != nil {
			subscribe(wake)
		}
	}
	c.Reconcile = func(ctx context.Context, key Key) (Result, error) {
		if busy() {
			return y.add(key), nil
		}
		y.release()
		return work(ctx, key)
	}
	return c
}

// yielded are the keys that a controller works on later. Only one of them asks again, and then wakes the others: there may be thousands.
type yielded struct {
	wake func(...Key)

	mu   sync.Mutex
	asks *Key
	keys map[Key]struct{}
}

// add keeps a key, and returns when to look at it again.
func (y *yielded) add(key Key) Result {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.asks == nil || *y.asks == key {
		y.asks = &key
		return In(yieldPause)
	}
	y.keys[key] = struct{}{}
	return Never
}

// release wakes all keys that wait.
func (y *yielded) release() {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.asks = nil
	if len(y.keys) == 0 {
		return
	}
	y.wake(slices.SortedFunc(maps.Keys(y.keys), func(a, b Key) int { return strings.Compare(a.String(), b.String()) })...)
	clear(y.keys)
}
