package capacityreservation

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// kept is how long a count holds without a renewal.
const kept = 24 * time.Hour

// Counts tracks how many instances reservations still have room for: EC2's last answer, corrected by launches
// and terminations since then. It may be used by many goroutines.
type Counts struct {
	clock clock.PassiveClock

	mu       sync.Mutex
	counts   map[string]count
	leaving  map[string]departure // by provider ID
	revision uint64
}

// departure is an instance that takes its place in a reservation until it has terminated.
type departure struct {
	reservation string
	seen        time.Time // when it was last there
}

type count struct {
	available int64
	synced    time.Time
}

// NewCounts makes counts that know no reservation yet.
func NewCounts(c clock.PassiveClock) *Counts {
	return &Counts{clock: c, counts: map[string]count{}, leaving: map[string]departure{}}
}

// Synced notes what EC2 says.
func (c *Counts) Synced(id string, available int64) {
	c.change(id, func(k *count) { k.available, k.synced = available, c.clock.Now() })
}

// Launched subtracts an instance launched at the given time, unless EC2 has reported a count since then.
func (c *Counts) Launched(id string, at time.Time) {
	c.change(id, func(k *count) {
		if !k.synced.After(at) {
			k.available = max(k.available-1, 0)
		}
	})
}

// Leaves notes an instance that is about to terminate, at each look that still finds it.
func (c *Counts) Leaves(providerID, id string) {
	if id == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.clock.Now()
	for other, d := range c.leaving {
		if now.Sub(d.seen) >= kept {
			delete(c.leaving, other)
		}
	}
	c.leaving[providerID] = departure{id, now}
}

// Terminated adds an instance back once its termination is certain, unless EC2 has reported a count since it was
// last there.
func (c *Counts) Terminated(providerID string) {
	c.mu.Lock()
	d, known := c.leaving[providerID]
	delete(c.leaving, providerID)
	c.mu.Unlock()
	if known {
		c.change(d.reservation, func(k *count) {
			if !k.synced.After(d.seen) {
				k.available++
			}
		})
	}
}

// Exhausted notes that EC2 had no room left.
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
		k.synced = c.clock.Now() // a reservation that was never asked about has no count to restore
	}
	how(&k)
	c.counts[id] = k
	if !known || k.available != before {
		c.revision++
	}
}

// Available is how many instances a reservation still has room for; zero if EC2 has not reported a count for
// a day.
func (c *Counts) Available(id string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, known := c.counts[id]
	if !known || c.clock.Since(k.synced) >= kept {
		return 0
	}
	return k.available
}

// Revision is a number that differs after every change.
func (c *Counts) Revision() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.revision
}
