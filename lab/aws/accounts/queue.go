package accounts

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"tenon/lab/aws/wire"
)

// Queue is a queue of SQS. It forgets messages that are not deleted within its retention.
type Queue struct {
	Name       string
	Retention  time.Duration
	Visibility time.Duration // how long a received message stays invisible
	messages   []*Message
	sent       int
	arrived    chan struct{} // closed when a message comes
}

// Message is a message in a queue.
type Message struct {
	ID, Body string
	Receipt  string // from the last time that it was received
	Sent     time.Time
	Receives int
	first    time.Time
	visible  time.Time
}

func (r *Region) addQueue(name string) *Queue {
	q := &Queue{Name: name, Retention: 5 * time.Minute, Visibility: 30 * time.Second, arrived: make(chan struct{})}
	r.queues[name] = q
	return q
}

// CreateQueue makes a queue, or returns the existing one.
func (r *Region) CreateQueue(name string) *Queue {
	if q, ok := r.queues[name]; ok {
		return q
	}
	return r.addQueue(name)
}

// Queue finds a queue.
func (r *Region) Queue(name string) (*Queue, error) {
	if q, ok := r.queues[name]; ok {
		return q, nil
	}
	return nil, &wire.Error{
		Code: "com.amazonaws.sqs#QueueDoesNotExist", QueryCode: "AWS.SimpleQueueService.NonExistentQueue",
		Message: "The specified queue does not exist.", Status: http.StatusBadRequest,
	}
}

// NoticeQueue returns the name of the queue that gets notices.
func (r *Region) NoticeQueue() string { return r.world.config.queue() }

// QueueNames returns the names of all queues, sorted.
func (r *Region) QueueNames() []string {
	var names []string
	for name := range r.queues {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Send puts a message into a queue.
func (r *Region) Send(q *Queue, body string) Message {
	q.sent++
	m := &Message{ID: r.world.config.Seed.UUID("message", r.Account.ID, r.Name, q.Name, strconv.Itoa(q.sent)), Body: body, Sent: r.Now(), visible: r.Now()}
	q.messages = append(q.messages, m)
	close(q.arrived)
	q.arrived = make(chan struct{})
	return *m
}

// Count returns how many messages can be received, and how many were received and not deleted.
func (r *Region) Count(q *Queue) (waiting, inFlight int) {
	r.forget(q)
	for _, m := range q.messages {
		if m.visible.After(r.Now()) {
			inFlight++
		} else {
			waiting++
		}
	}
	return waiting, inFlight
}

func (r *Region) forget(q *Queue) {
	q.messages = slices.DeleteFunc(q.messages, func(m *Message) bool { return r.Now().Sub(m.Sent) >= q.Retention })
}

// Delete takes a received message out of a queue. A message that is gone is not an error.
func (q *Queue) Delete(receipt string) {
	q.messages = slices.DeleteFunc(q.messages, func(m *Message) bool { return m.Receipt == receipt && receipt != "" })
}

// Hide changes how long a received message stays invisible.
func (r *Region) Hide(q *Queue, receipt string, d time.Duration) error {
	for _, m := range q.messages {
		if m.Receipt == receipt && receipt != "" {
			m.visible = r.Now().Add(d)
			return nil
		}
	}
	return wire.Errorf("ReceiptHandleIsInvalid", "The input receipt handle is invalid.")
}

// Purge takes all messages out.
func (q *Queue) Purge() { q.messages = nil }

// ReceiveOrder holds the parameters of ReceiveMessage.
type ReceiveOrder struct {
	Queue      string
	Max        int
	Visibility *time.Duration
	Wait       time.Duration
}

// Receive takes messages; if there are none, it waits for some if the order says so.
func (w *World) Receive(ctx context.Context, account, region string, o ReceiveOrder) ([]Message, error) {
	deadline := w.config.Clock.Now().Add(o.Wait)
	for {
		var got []Message
		var again time.Time
		var arrived chan struct{}
		err := w.Do(account, region, func(r *Region) error {
			q, err := r.Queue(o.Queue)
			if err != nil {
				return err
			}
			got, again = r.take(q, o)
			arrived = q.arrived
			return nil
		})
		if err != nil || len(got) > 0 || !w.config.Clock.Now().Before(deadline) {
			return got, err
		}
		if again.IsZero() || again.After(deadline) {
			again = deadline
		}
		timer := w.config.Clock.NewTimer(again.Sub(w.config.Clock.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, nil
		case <-arrived:
		case <-timer.C():
		}
		timer.Stop()
	}
}

// take receives the visible messages, and says when the next message becomes visible.
func (r *Region) take(q *Queue, o ReceiveOrder) (got []Message, again time.Time) {
	r.forget(q)
	hidden := q.Visibility
	if o.Visibility != nil {
		hidden = *o.Visibility
	}
	for _, m := range q.messages {
		if m.visible.After(r.Now()) {
			if again.IsZero() || m.visible.Before(again) {
				again = m.visible
			}
			continue
		}
		if len(got) == o.Max {
			break
		}
		m.Receives++
		m.Receipt = r.world.config.Seed.Hex(40, "receipt", m.ID, strconv.Itoa(m.Receives))
		m.visible = r.Now().Add(hidden)
		if m.first.IsZero() {
			m.first = r.Now()
		}
		got = append(got, *m)
	}
	slices.SortStableFunc(got, func(a, b Message) int { return cmp.Or(a.Sent.Compare(b.Sent)) })
	return got, again
}

// First returns when the message was first received.
func (m Message) First() time.Time { return m.first }
