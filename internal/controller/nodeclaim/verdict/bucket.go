package verdict

import "time"

// bucket bounds how often something is done: so many times a second on average, and so many
// at once. It knows no clock.
type bucket struct {
	perSecond, most float64

	used   float64
	filled time.Time
}

// take uses the right to do it once, if there is one.
func (b *bucket) take(now time.Time) bool {
	if elapsed := now.Sub(b.filled).Seconds(); elapsed > 0 {
		b.used = max(b.used-elapsed*b.perSecond, 0)
		b.filled = now
	}
	if b.used+1 > b.most {
		return false
	}
	b.used++
	return true
}
