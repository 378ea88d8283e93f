package telemetry

import (
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// Component is the source of events; queries select by it.
const Component = "karpenter"

// Publisher is the Recorder of the process: it filters events (see eventFilter) and publishes the
// rest, warnings and others each in the order in which they came.
type Publisher struct {
	clock clock.PassiveClock
	send  func(Event)

	mu     sync.Mutex
	filter *eventFilter
}

// NewRecorder publishes through recorders of client-go, whose broadcasters write core/v1
// Events in the background, one after the other, and drop them when the API server is much slower than they come. Warnings
// have their own: that a pod fits nowhere must not wait until hundreds of nodes have been said to be gone.
func NewRecorder(normal, warnings record.EventRecorder, clock clock.PassiveClock) *Publisher {
	return newPublisher(clock, func(e Event) {
		to := normal
		if e.Type == corev1.EventTypeWarning {
			to = warnings
		}
		to.Event(e.Object, e.Type, e.Reason, e.Message)
	})
}

func newPublisher(clock clock.PassiveClock, send func(Event)) *Publisher {
	return &Publisher{clock: clock, send: send, filter: newEventFilter()}
}

// Publish sends an event that passes the filter. An event without an object is dropped: there is no
// place where people would see it.
func (p *Publisher) Publish(events ...Event) {
	for _, e := range events {
		if e.Object == nil {
			continue
		}
		p.sendAll(func(now time.Time) []Event { return p.filter.pass(now, e) })
	}
}

// Flush publishes the events that were held back and are due. Otherwise they wait for the next
// event.
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

// flushEvery is how late the count of held back events may be.
const flushEvery = 5 * time.Second

// Start flushes regularly until the context ends. The process runs it beside its controllers.
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

// Memory is a Recorder for tests and simulations: it keeps the published events in order.
type Memory struct {
	*Publisher

	mu     sync.Mutex
	events []Event
}

// NewMemory makes an empty Memory.
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

// Forget forgets the events published so far, each of which keeps a copy of its object.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.events = nil
}

// Events are all events published so far.
func (m *Memory) Events() []Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}
