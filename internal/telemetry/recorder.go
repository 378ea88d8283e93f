package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// Component is who events say they are from; queries select by it.
const Component = "karpenter"

// Publisher is the Recorder of the process: it filters events (see eventFilter) and hands on what is
// left, in the order in which it was published.
type Publisher struct {
	clock clock.PassiveClock
	send  func(Event)

	mu     sync.Mutex
	filter *eventFilter
}

// NewRecorder publishes through a recorder of client-go, whose broadcaster writes core/v1
// Events in the background and drops them when the API server is slower than they come.
func NewRecorder(to record.EventRecorder, clock clock.PassiveClock) *Publisher {
	return newPublisher(clock, func(e Event) { to.Event(e.Object, e.Type, e.Reason, e.Message) })
}

func newPublisher(clock clock.PassiveClock, send func(Event)) *Publisher {
	return &Publisher{clock: clock, send: send, filter: newEventFilter()}
}

// Publish sends what passes the filter. An event about nothing is dropped: there is no place
// where people would see it.
func (p *Publisher) Publish(events ...Event) {
	for _, e := range events {
		if e.Object == nil {
			continue
		}
		p.sendAll(func(now time.Time) []Event { return p.filter.pass(now, e) })
	}
}

// Flush publishes what is held back and due. Without it that waits for the next event.
func (p *Publisher) Flush() {
	p.sendAll(p.filter.due)
}

func (p *Publisher) sendAll(choose func(time.Time) []Event) {
	p.mu.Lock()
	events := choose(p.clock.Now())
	p.mu.Unlock()
	for _, e := range events {
		p.send(e)
	}
}

// flushEvery is how late a count of held back events may be.
const flushEvery = 5 * time.Second

// Start flushes now and then, until the context ends. The process runs it beside its
// controllers.
func (p *Publisher) Start(ctx context.Context) error {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			p.Flush()
		}
	}
}

// Memory is a Recorder for tests and simulations: what would be published, in order.
type Memory struct {
	*Publisher

	mu     sync.Mutex
	events []Event
}

// NewMemory makes an empty one.
func NewMemory(clock clock.PassiveClock) *Memory {
	m := &Memory{}
	m.Publisher = newPublisher(clock, m.keep)
	return m
}

func (m *Memory) keep(e Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = append(m.events, e)
}

// Forget drops what was published so far: every event keeps its object, as it was then.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = nil
}

// Events are all that were published so far.
func (m *Memory) Events() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}
