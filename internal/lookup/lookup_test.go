package lookup_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tenon/internal/lookup"
)

// reader records the requests.
type reader struct {
	client.Reader
	asked client.ListOptions
}

func (r *reader) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	r.asked.ApplyOptions(options)
	list.(*corev1.PodList).Items = []corev1.Pod{{}}
	return nil
}

// A read past our cache names its node, so that no other pods are sent, and a version, so that the API
// server need not read its store.
func TestPodsSince(t *testing.T) {
	t.Parallel()
	r := &reader{}
	pods, err := lookup.PodsSince(t.Context(), r, "node-1", "42")
	if err != nil || len(pods) != 1 {
		t.Errorf("pods %v, error %v", pods, err)
	}
	got := r.asked.AsListOptions()
	if got.FieldSelector != "spec.nodeName=node-1" || got.ResourceVersion != "42" || got.ResourceVersionMatch != "NotOlderThan" {
		t.Errorf("asked with %+v", got)
	}
}
