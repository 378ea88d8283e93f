package reconcile

import (
	"context"
	"time"
)

// yieldPause is how often a controller that yields asks whether it still has to.
const yieldPause = time.Second

// Yielding returns the controllers, of which those that yield look again later as long as busy says so.
func Yielding(list []Controller, busy func() bool) []Controller {
	out := make([]Controller, len(list))
	for i, c := range list {
		if work := c.Reconcile; c.Yields {
			c.Reconcile = func(ctx context.Context, key Key) (Result, error) {
				if busy() {
					return In(yieldPause), nil
				}
				return work(ctx, key)
			}
		}
		out[i] = c
	}
	return out
}
