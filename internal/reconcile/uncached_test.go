package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"tenon/internal/reconcile"
)

// What is read past the cache comes from the API server; an error says why it was asked, and keeps its kind.
func TestUncached(t *testing.T) {
	t.Parallel()
	there := &corev1.Node{}
	there.Name = "a"
	kit := reconcile.Kit{Client: fake.NewClientBuilder().Build(), Server: fake.NewClientBuilder().WithObjects(there).Build()}
	reader := kit.Uncached(reconcile.BeforeRemoval)
	var list corev1.NodeList
	if err := errors.Join(reader.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Node{}), reader.List(t.Context(), &list)); err != nil || len(list.Items) != 1 {
		t.Errorf("%d nodes, error %v", len(list.Items), err)
	}
	err := reader.Get(t.Context(), client.ObjectKey{Name: "b"}, &corev1.Node{})
	if !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), string(reconcile.BeforeRemoval)) {
		t.Errorf("error %v", err)
	}
}
