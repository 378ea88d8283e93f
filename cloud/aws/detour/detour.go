// Package detour knows the zones that traffic is led away from: ARC's zonal shifts of the
// cluster. Nothing is launched there and nothing changed, until the shift is over.
package detour

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift"
	"github.com/aws/aws-sdk-go-v2/service/arczonalshift/types"
	"k8s.io/utils/clock"

	"tenon/cloud/aws/api"
	"tenon/core/order"
)

// Watch asks ARC and remembers what it said. It may be used by many goroutines.
type Watch struct {
	arc   api.ZonalShift
	arn   func(context.Context) (string, error)
	clock clock.PassiveClock

	mu       sync.Mutex
	until    map[string]time.Time // by zone ID
	told     map[string]bool      // what the last Poll gave out
	revision uint64
}

// New watches the cluster with an ARN.
func New(client api.ZonalShift, arn func(context.Context) (string, error), c clock.PassiveClock) *Watch {
	return &Watch{arc: client, arn: arn, clock: c, until: map[string]time.Time{}, told: map[string]bool{}}
}

// Change is which zones traffic has begun to be led away from, and which it has come back
// to: their IDs, sorted.
type Change struct{ Began, Ended []string }

// Poll asks ARC. What it gives out once it does not give out again.
func (w *Watch) Poll(ctx context.Context) (Change, error) {
	arn, err := w.arn(ctx)
	if err != nil {
		return Change{}, fmt.Errorf("look for zonal shifts: %w", err)
	}
	out, err := w.arc.GetManagedResource(ctx, &arczonalshift.GetManagedResourceInput{ResourceIdentifier: &arn})
	if err != nil {
		return Change{}, fmt.Errorf("look for zonal shifts: %w", err)
	}
	until := map[string]time.Time{}
	for _, s := range out.ZonalShifts {
		if zone := aws.ToString(s.AwayFrom); s.AppliedStatus == types.AppliedStatusApplied && zone != "" {
			until[zone] = aws.ToTime(s.ExpiryTime)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = until
	return w.compare(), nil
}

// compare is what has changed since it was compared last. The lock is held.
func (w *Watch) compare() Change {
	now := w.current()
	var c Change
	for _, zone := range order.Keys(now) {
		if !w.told[zone] {
			c.Began = append(c.Began, zone)
		}
	}
	for _, zone := range order.Keys(w.told) {
		if !now[zone] {
			c.Ended = append(c.Ended, zone)
		}
	}
	if len(c.Began)+len(c.Ended) > 0 {
		w.revision++
	}
	w.told = now
	return c
}

// current are the shifts whose end lies ahead. The lock is held.
func (w *Watch) current() map[string]bool {
	zones := map[string]bool{}
	for zone, until := range w.until {
		if until.After(w.clock.Now()) {
			zones[zone] = true
		} else {
			w.revision++
			delete(w.until, zone)
		}
	}
	return zones
}

// Shifted are the IDs of the zones that traffic is led away from, and a number that is
// another one after every change.
func (w *Watch) Shifted() (map[string]bool, uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current(), w.revision
}
