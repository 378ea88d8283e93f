// Package sqs is the queue into which the cloud puts what it announces, as SQS keeps it: a
// message that was received is hidden for a while, and comes again unless it is deleted.
//
// The package must not know what the messages are about, nor who reads them.
package sqs

import (
	"context"
	"slices"
	"time"

	"tenon/cloud/aws/instanceevents"
)

const (
	// hidden is for how long no other receiver sees a message that was received.
	hidden = 20 * time.Second
	// most is how many are received at once.
	most = 10
)

// Queue outlives the processes that read it.
type Queue struct {
	Now func() time.Time
	// Later has a function called at a time.
	Later func(at time.Time, what string, do func())

	messages []*message
	readers  []func()
}

type message struct {
	instanceevents.Message
	visible time.Time
}

// Send puts a message in, which arrives after a while, and once more for each repetition.
func (q *Queue) Send(body string, after time.Duration, times int) {
	for i := range times {
		q.Later(q.Now().Add(after+time.Duration(i)*hidden/2), "a message", func() {
			q.messages = append(q.messages, &message{Message: instanceevents.Message{Body: body}})
			q.ring()
		})
	}
}

// Subscribe has a function called whenever there is something to receive.
func (q *Queue) Subscribe(wake func()) {
	q.readers = append(q.readers, wake)
	if len(q.messages) > 0 {
		wake()
	}
}

func (q *Queue) ring() {
	for _, wake := range q.readers {
		wake()
	}
}

// Empty reports whether there is nothing to receive now.
func (q *Queue) Empty() bool { return !slices.ContainsFunc(q.messages, q.seen) }

func (q *Queue) seen(l *message) bool { return !q.Now().Before(l.visible) }

// Receive gives what is there, and does not wait.
func (q *Queue) Receive(context.Context) ([]instanceevents.Message, error) {
	var out []instanceevents.Message
	for _, l := range q.messages {
		if !q.seen(l) || len(out) == most {
			continue
		}
		l.visible = q.Now().Add(hidden)
		out = append(out, l.Message)
	}
	if len(out) > 0 {
		q.Later(q.Now().Add(hidden), "messages again", q.ring)
	}
	return out, nil
}

// Delete takes a message out that was received. Bodies tell messages apart, and a
// repetition that is hidden as well goes with it.
func (q *Queue) Delete(_ context.Context, m instanceevents.Message) error {
	q.messages = slices.DeleteFunc(q.messages, func(l *message) bool { return l.Body == m.Body && !q.seen(l) })
	return nil
}
