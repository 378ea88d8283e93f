package telemetry

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/record"
)

// retryAfter is how long the writer of events waits before it tries one again, twelve times in all.
const retryAfter = 2 * time.Second

// NewBroadcaster writes events to a sink, one after the other. It repeats those that the API server cannot write at the moment.
func NewBroadcaster(sink record.EventSink) record.EventBroadcaster {
	return broadcast(sink, retryAfter)
}

func broadcast(sink record.EventSink, again time.Duration) record.EventBroadcaster {
	out := record.NewBroadcaster(record.WithSleepDuration(again))
	out.StartRecordingToSink(patientSink{sink})
	return out
}

// patientSink returns answers of an API server that is busy, or has no etcd for a moment, as other errors: client-go drops an event at
// every answer, and repeats it only if there is none.
type patientSink struct{ record.EventSink }

func (s patientSink) Create(e *corev1.Event) (*corev1.Event, error) {
	return patient(s.EventSink.Create(e))
}

func (s patientSink) Update(e *corev1.Event) (*corev1.Event, error) {
	return patient(s.EventSink.Update(e))
}

func (s patientSink) Patch(e *corev1.Event, data []byte) (*corev1.Event, error) {
	return patient(s.EventSink.Patch(e, data))
}

func patient(written *corev1.Event, err error) (*corev1.Event, error) {
	for _, passes := range []func(error) bool{
		apierrors.IsTooManyRequests, apierrors.IsServerTimeout, apierrors.IsTimeout, apierrors.IsServiceUnavailable, apierrors.IsInternalError,
	} {
		if passes(err) {
			return written, fmt.Errorf("the API server does not write events at the moment: %w", err)
		}
	}
	return written, err
}
