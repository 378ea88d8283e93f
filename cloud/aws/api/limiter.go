package api

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// Limiter keeps calls within limits that AWS does not publish exactly. It lets every call through until a
// service throttles one, takes the rate of answers before that for the limit, and then adjusts the rate with
// each answer. When calls wait, the important ones go first. A limiter serves one account in one region.
//
// It delays calls as long as needed, separately for each operation, as AWS counts them. It may be used by
// many goroutines.
type Limiter struct {
	clock clock.Clock

	mu     sync.Mutex
	queues map[string]*queue // by operation
	calls  uint64            // number of calls that ever waited; it orders calls by arrival
}

// NewLimiter makes a limiter that knows of no limit yet.
func NewLimiter(c clock.Clock) *Limiter {
	return &Limiter{clock: c, queues: map[string]*queue{}}
}

// queue is one operation: what the limiter knows of its limit, and the calls that wait for it.
type queue struct {
	rate    rate
	waiting []*call // most important first
}

type call struct {
	priority Priority
	number   uint64
	turn     chan struct{} // closed when the call may be sent
}

// Permit is the right to send one call. Report the result with Done.
type Permit struct {
	limiter   *Limiter
	operation string
	sent      time.Time
}

// Wait returns when a call of the operation may be sent, the most important first; see WithPriority. It fails
// if the context ends first.
func (l *Limiter) Wait(ctx context.Context, operation string) (Permit, error) {
	mine := l.join(operation, PriorityOf(ctx))
	for {
		wait := l.serve(operation)
		select {
		case <-mine.turn:
			return Permit{limiter: l, operation: operation, sent: l.clock.Now()}, nil
		default:
		}
		timer := l.clock.NewTimer(wait)
		select {
		case <-mine.turn:
		case <-timer.C():
		case <-ctx.Done():
			timer.Stop()
			l.leave(operation, mine)
			return Permit{}, fmt.Errorf("wait to call %s: %w", operation, ctx.Err())
		}
		timer.Stop()
	}
}

// Done reports how the service answered the call: refused means that it throttled the call.
func (p Permit) Done(refused bool) {
	if p.limiter == nil {
		return
	}
	p.limiter.mu.Lock()
	defer p.limiter.mu.Unlock()
	q, now := p.limiter.of(p.operation), p.limiter.clock.Now()
	if refused {
		q.rate.refused(p.sent, now)
		return
	}
	q.rate.accepted(now)
}

// Rate is how many calls of an operation the limiter lets through each second; zero means no limit.
func (l *Limiter) Rate(operation string) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of(operation).rate.perSecond
}

// of is the queue of an operation. The caller holds the lock.
func (l *Limiter) of(operation string) *queue {
	q := l.queues[operation]
	if q == nil {
		q = &queue{}
		l.queues[operation] = q
	}
	return q
}

func (l *Limiter) join(operation string, p Priority) *call {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	c := &call{priority: p, number: l.calls, turn: make(chan struct{})}
	q := l.of(operation)
	at, _ := slices.BinarySearchFunc(q.waiting, c, (*call).compare)
	q.waiting = slices.Insert(q.waiting, at, c)
	return c
}

// compare orders calls by importance, and equally important ones by arrival.
func (c *call) compare(o *call) int {
	if c.priority != o.priority {
		return int(o.priority - c.priority)
	}
	if c.number < o.number {
		return -1
	}
	return int(min(c.number-o.number, 1))
}

// serve lets calls go as the rate allows, and says when to try again.
func (l *Limiter) serve(operation string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	q, now := l.of(operation), l.clock.Now()
	for len(q.waiting) > 0 && q.rate.take(now) {
		close(q.waiting[0].turn)
		q.waiting = slices.Delete(q.waiting, 0, 1)
	}
	return q.rate.wait(now)
}

// leave withdraws a call that will not be sent. If its turn had already come, the next call waits a little
// longer than necessary, which is safe.
func (l *Limiter) leave(operation string, c *call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.of(operation)
	q.waiting = slices.DeleteFunc(q.waiting, func(o *call) bool { return o == c })
}
