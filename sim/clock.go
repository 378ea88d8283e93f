package sim

import "time"

// Clock is the time of a run. It stands still while something runs, and jumps to the time
// of what is next.
type Clock struct{ now time.Time }

// Now is the time of the run.
func (c *Clock) Now() time.Time { return c.now }

// Since is the time that has passed.
func (c *Clock) Since(t time.Time) time.Duration { return c.now.Sub(t) }

// After answers at once: nothing else runs, so there is nothing to wait for.
func (c *Clock) After(time.Duration) <-chan time.Time {
	ready := make(chan time.Time, 1)
	ready <- c.now
	return ready
}

// forward moves the clock, never back.
func (c *Clock) forward(to time.Time) {
	if to.After(c.now) {
		c.now = to
	}
}
