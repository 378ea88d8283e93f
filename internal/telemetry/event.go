package telemetry

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Event is information for people about an object.
type Event struct {
	Object  client.Object
	Type    string // Normal or Warning
	Reason  string
	Message string
	// Key identifies equal events: one with the same reason and key is not published again within
	// Every. An empty key means the object's UID.
	Key []string
	// Every is two minutes if it is zero.
	Every time.Duration
	// Rate limits how many events of this reason are published; zero means no limit.
	Rate Rate
	// Own says that every pod should have its own event; see Each.
	Own bool
}

// Rate is a number of events per second, with a burst.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Recorder publishes events. It never blocks for the API server, and never fails: an
// event that is lost is not worth a retry.
type Recorder interface {
	Publish(events ...Event)
}

// Normal is an event about normal progress.
func Normal(object client.Object, reason, message string, key ...string) Event {
	return Event{Object: object, Type: corev1.EventTypeNormal, Reason: reason, Message: message, Key: key}
}

// Warning is an event that an operator should look at.
func Warning(object client.Object, reason, message string, key ...string) Event {
	return Event{Object: object, Type: corev1.EventTypeWarning, Reason: reason, Message: message, Key: key}
}

// Each returns the event such that every pod gets its own as soon as rates allow, for any number of
// pods of an owner. Its publisher must repeat it as long as it is true.
func (e Event) Each() Event {
	e.Own = true
	return e
}

// Within returns the event such that it is published at most once in that time.
func (e Event) Within(every time.Duration) Event {
	e.Every = every
	return e
}
