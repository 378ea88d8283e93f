package sim

import "time"

// Clock is the time of a run. It stands still while an entry runs, and jumps to the time of the next entry.
type Clock struct{ now time.Time }

// Now returns the time of the run.
func (c *Clock) Now() time.Time { return c.now }

// Since returns the time that has passed.
func (c *Clock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

// After fires at once: no other goroutine runs for which a caller could wait.
func (c *Clock) After(time.Duration) <-chan time.Time {
	ready := make(chan time.Time, 1)
	ready <- c.now
	return ready
}

// forward moves the clock forward, and never back.
func (c *Clock) forward(to time.Time) {
	if to.After(c.now) {
		c.now = to
	}
}
