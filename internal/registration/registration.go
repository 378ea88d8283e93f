// Package registration remembers, pool by pool, how the last attempts to make nodes join
// the cluster ended, and judges by them whether the pool's nodes can join at all.
//
// It reads no objects, writes none and has no clock. The callers that share a Tracker decide what a verdict
// means for a pool's conditions.
package registration

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// Health is the verdict on a pool.
type Health int

// The verdicts. Unknown is that of a pool of which nothing has been seen since the last
// Reset, so that the zero value claims nothing.
const (
	Unknown Health = iota
	Healthy
	Unhealthy
)

// String is for messages of tests and logs.
func (h Health) String() string {
	switch h {
	case Healthy:
		return "Healthy"
	case Unhealthy:
		return "Unhealthy"
	case Unknown:
		return "Unknown"
	}
	return "Health(?)"
}

// The last four outcomes count, and two failures among them are too many. The threshold
// does not shrink while fewer outcomes are known: one failure alone may be chance.
const (
	remembered      = 4
	tooManyFailures = 2
)

// Tracker keeps the outcomes, by UID, so that a pool that was made anew under an old name
// starts afresh. All methods may be called by many goroutines.
type Tracker struct {
	mu    sync.Mutex
	pools map[types.UID]*ring // guarded by mu
}

// New is a tracker that has seen nothing.
func New() *Tracker { return &Tracker{pools: map[types.UID]*ring{}} }

// Succeed notes that a node of the pool has registered.
func (t *Tracker) Succeed(pool types.UID) { t.note(pool, false) }

// Fail notes that a claim of the pool was given up before its node registered.
func (t *Tracker) Fail(pool types.UID) { t.note(pool, true) }

// Health is the verdict on the outcomes that are remembered.
func (t *Tracker) Health(pool types.UID) Health {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.pools[pool]; r != nil {
		return r.health()
	}
	return Unknown
}

// Failures is how many attempts of the pool have failed since one succeeded.
func (t *Tracker) Failures(pool types.UID) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r := t.pools[pool]; r != nil {
		return r.row
	}
	return 0
}

// Reset forgets a pool: its settings have changed, or it is gone.
func (t *Tracker) Reset(pool types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pools, pool)
}

// Seed sets the verdict from before a restart if no outcomes are remembered.
func (t *Tracker) Seed(pool types.UID, healthy bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pools[pool] != nil {
		return
	}
	r := &ring{}
	t.pools[pool] = r
	if healthy {
		r.add(false)
		return
	}
	for range tooManyFailures {
		r.add(true)
	}
}

func (t *Tracker) note(pool types.UID, failed bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.pools[pool]
	if r == nil {
		r = &ring{}
		t.pools[pool] = r
	}
	r.add(failed)
}

// ring holds outcomes, the latest in place of the oldest.
type ring struct {
	failed [remembered]bool
	seen   int // how many there ever were
	row    int // how many of the last ones failed
}

func (r *ring) add(failed bool) {
	r.failed[r.seen%remembered] = failed
	r.seen++
	r.row++
	if !failed {
		r.row = 0
	}
}

func (r *ring) health() Health {
	if r.seen == 0 {
		return Unknown
	}
	failures := 0
	for _, failed := range r.failed { // places not yet used are no failures
		if failed {
			failures++
		}
	}
	if failures >= tooManyFailures {
		return Unhealthy
	}
	return Healthy
}
