package api

import "time"

// How rate learns a limit. A limit of AWS is a bucket that fills at a steady rate, so a refusal means that
// the bucket was empty at that moment: rate drops below the recent rate of answers, and grows a little with
// every answer.
const (
	window   = time.Second // the period over which rate counts answers
	backOff  = 0.7         // of the rate, after a refusal
	growth   = 0.5         // calls a second added, for each second of answers
	slowest  = 0.5         // calls a second
	fastest  = 200.0       // calls a second: above this there is no limit
	saved    = 10.0        // seconds of rate that a pause saves up
	forgives = 10 * time.Minute
)

// rate is what the limiter has learned about one limit. The zero value delays nothing.
type rate struct {
	perSecond float64 // zero: no limit is known
	tokens    float64
	at        time.Time // the time at which tokens was computed
	slowed    time.Time // the last refusal; refusals of calls sent before it teach nothing new
	answered  int       // in the window that began at
	began     time.Time
	previous  int // in the window before
}

// take reports whether a call may be sent now.
func (r *rate) take(now time.Time) bool {
	r.fill(now)
	switch {
	case r.perSecond == 0:
		return true
	case r.tokens < 1:
		return false
	}
	r.tokens--
	return true
}

// wait returns how long to wait until a call may be sent.
func (r *rate) wait(now time.Time) time.Duration {
	r.fill(now)
	if r.perSecond == 0 || r.tokens >= 1 {
		return 0
	}
	// Rounded up, so that a caller that waits that long is not early.
	return time.Duration((1-r.tokens)/r.perSecond*float64(time.Second)) + time.Microsecond
}

func (r *rate) fill(now time.Time) {
	if r.perSecond > 0 && now.Sub(r.slowed) > forgives {
		r.perSecond = 0 // the other users of the limit may have stopped
	}
	if passed := now.Sub(r.at); passed > 0 {
		r.tokens = min(r.tokens+passed.Seconds()*r.perSecond, max(saved*r.perSecond, 1))
		r.at = now
	}
}

// accepted notes a call that the service answered.
func (r *rate) accepted(now time.Time) {
	r.turn(now)
	r.answered++
	if r.perSecond == 0 {
		return
	}
	r.perSecond += growth / max(r.perSecond, 1)
	if r.perSecond >= fastest {
		r.perSecond = 0
	}
}

// refused notes a call, sent at the given time, that the service throttled.
func (r *rate) refused(sent, now time.Time) {
	r.turn(now)
	r.fill(now)
	r.tokens, r.at = 0, now
	if r.perSecond > 0 && !sent.After(r.slowed) {
		return // the call belongs to the burst that lowered the rate already
	}
	if r.perSecond == 0 {
		r.perSecond = float64(max(r.answered, r.previous))
	}
	r.perSecond = max(r.perSecond*backOff, slowest)
	r.slowed = now
}

// turn begins a new window when the old one has ended.
func (r *rate) turn(now time.Time) {
	switch passed := now.Sub(r.began); {
	case passed >= 2*window:
		r.previous, r.answered, r.began = 0, 0, now
	case passed >= window:
		r.previous, r.answered, r.began = r.answered, 0, now
	}
}
