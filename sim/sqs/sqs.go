// Package sqs simulates the queue of the cloud's notices with the behaviour of SQS: a received message
// is hidden for a while, and comes again unless it is deleted.
//
// The package must not depend on the content of messages, nor on their readers.
package sqs

import (
	"context"
	"slices"
	"time"

	"tenon/cloud/aws/instanceevents"
)

const (
	// hidden is how long a received message is invisible to other receivers.
	hidden = 20 * time.Second
	// most is the largest number of messages in one answer.
	most = 10
)

// Queue outlives the processes that read it.
type Queue struct {
	Now func() time.Time
	// Later calls a function at a time.
	Later func(at time.Time, what string, do func())

	messages []*message
	readers  []func()
}

type message struct {
	instanceevents.Message
	visible time.Time
}

// Send sends a message, which arrives after a while, and once more for each repetition.
func (q *Queue) Send(body string, after time.Duration, times int) {
	for i := range times {
		q.Later(q.Now().Add(after+time.Duration(i)*hidden/2), "a message", func() {
			q.messages = append(q.messages, &message{Message: instanceevents.Message{Body: body}})
			q.ring()
		})
	}
}

// Subscribe calls a function whenever a message can be received.
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

// Empty reports whether there is no message to receive now.
func (q *Queue) Empty() bool { return !slices.ContainsFunc(q.messages, q.seen) }

func (q *Queue) seen(l *message) bool { return !q.Now().Before(l.visible) }

// Receive returns the available messages, and does not wait.
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

// Delete deletes a received message. Bodies distinguish messages, and a hidden repetition is deleted too.
func (q *Queue) Delete(_ context.Context, m instanceevents.Message) error {
	q.messages = slices.DeleteFunc(q.messages, func(l *message) bool { return l.Body == m.Body && !q.seen(l) })
	return nil
}
