package telemetry

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Event is something that people should see beside an object.
type Event struct {
	Object  client.Object
	Type    string // Normal or Warning
	Reason  string
	Message string
	// Key says which events are the same: one with the same reason and key is not
	// published again within Every. No key is the object's UID.
	Key []string
	// Every is two minutes when zero.
	Every time.Duration
	// Rate bounds how many events of this reason are published in all; zero is without
	// bound.
	Rate Rate
	// Own says that every pod should have this event itself; see Each.
	Own bool
}

// Rate is so many a second, and so many at once.
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

// Each is the event, of which every pod gets one of its own as soon as rates allow, however many
// there are of its owner. It has to be published again and again for as long as it is true.
func (e Event) Each() Event {
	e.Own = true
	return e
}

// Within is the event, published at most once in that time.
func (e Event) Within(every time.Duration) Event {
	e.Every = every
	return e
}
