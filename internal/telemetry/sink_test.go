package telemetry

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
)

// answers is a sink that answers with these errors, and then writes.
type answers struct {
	record.EventSink
	errors  []error
	written chan string
}

func (a *answers) Create(e *corev1.Event) (*corev1.Event, error) {
	if len(a.errors) > 0 {
		err := a.errors[0]
		a.errors = a.errors[1:]
		return nil, err
	}
	a.written <- e.Message
	return e, nil
}

// An event that the API server cannot write at the moment is written later; one that it refuses is dropped.
func TestEventsOutlastABusyServer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want string // the first event that is written
	}{
		"no answer":                {errors.New("connection refused"), "first"},
		"too many requests":        {apierrors.NewTooManyRequests("busy", 1), "first"},
		"a timeout":                {apierrors.NewTimeoutError("slow", 1), "first"},
		"a timeout of the server":  {apierrors.NewServerTimeout(corev1.Resource("events"), "create", 1), "first"},
		"etcd without its leader":  {apierrors.NewInternalError(errors.New("etcdserver: leader changed")), "first"},
		"a server that is ending":  {apierrors.NewServiceUnavailable("shutting down"), "first"},
		"an event that is refused": {apierrors.NewForbidden(corev1.Resource("events"), "e", nil), "second"},
	} {
		sink := &answers{errors: []error{tc.err}, written: make(chan string, 2)}
		b := broadcast(sink, 0)
		recorder := b.NewRecorder(scheme.Scheme, corev1.EventSource{Component: Component})
		for _, message := range []string{"first", "second"} {
			recorder.Event(&corev1.Pod{}, corev1.EventTypeNormal, "Reason", message)
		}
		if got := <-sink.written; got != tc.want {
			t.Errorf("%s: %q is written first, want %q", name, got, tc.want)
		}
		b.Shutdown()
	}
}
