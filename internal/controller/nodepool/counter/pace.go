package counter

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// pace keeps a pause between two counts of one pool. What it remembers makes nothing right
// or wrong: without it counts would only be more frequent.
type pace struct {
	clock clock.PassiveClock
	pause time.Duration

	mu   sync.Mutex
	last map[string]time.Time // guarded by mu
}

func newPace(clock clock.PassiveClock, pause time.Duration) *pace {
	return &pace{clock: clock, pause: pause, last: map[string]time.Time{}}
}

// wait is how long the pool's turn is still away; at zero it has come, and is taken.
func (p *pace) wait(pool string) time.Duration {
	now := p.clock.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, counted := p.last[pool]; counted {
		if left := p.pause - now.Sub(last); left > 0 {
			return left
		}
	}
	p.last[pool] = now
	return 0
}

func (p *pace) forget(pool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.last, pool)
}
