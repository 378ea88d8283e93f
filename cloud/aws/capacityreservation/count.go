package capacityreservation

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// kept is how long a count holds that is not renewed.
const kept = 24 * time.Hour

// Counts are how many instances reservations still hold: what EC2 said last, and what
// happened since. It may be used by many goroutines.
type Counts struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	counts   map[string]count
	revision uint64
}

type count struct {
	available int64
	synced    time.Time
}

// NewCounts knows of no reservation.
func NewCounts(c clock.PassiveClock) *Counts {
	return &Counts{clock: c, counts: map[string]count{}}
}

// Synced notes what EC2 says.
func (c *Counts) Synced(id string, available int64) {
	c.change(id, func(k *count) { k.available, k.synced = available, c.clock.Now() })
}

// Launched takes one off for an instance launched at a time, unless EC2 has said since
// then how many are left.
func (c *Counts) Launched(id string, at time.Time) {
	c.change(id, func(k *count) {
		if !k.synced.After(at) {
			k.available = max(k.available-1, 0)
		}
	})
}

// Terminated gives one back, whose end is certain.
func (c *Counts) Terminated(id string) { c.change(id, func(k *count) { k.available++ }) }

// Exhausted notes that EC2 had none left.
func (c *Counts) Exhausted(id string) { c.change(id, func(k *count) { k.available = 0 }) }

func (c *Counts) change(id string, how func(*count)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known := c.counts[id]
	before := k.available
	if known && c.clock.Since(k.synced) >= kept {
		k = count{synced: k.synced}
	}
	if !known {
		k.synced = c.clock.Now() // a subnet or reservation that was never asked for has no count to restore
	}
	how(&k)
	c.counts[id] = k
	if !known || k.available != before {
		c.revision++
	}
}

// Available is how many instances a reservation still holds; none of one that EC2 has
// not spoken of for a day.
func (c *Counts) Available(id string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known := c.counts[id]
	if !known || c.clock.Since(k.synced) >= kept {
		return 0
	}
	return k.available
}

// Revision is another number after every change.
func (c *Counts) Revision() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}
