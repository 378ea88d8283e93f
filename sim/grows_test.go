package sim

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Pods on a node that is gone need places like pods on a node that leaves: without finalizers, which a user may remove, a node
// is gone at once.
func TestPodsOfANodeThatIsGoneNeedPlaces(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Seed: 1, Groups: true})
	if err != nil {
		t.Fatal(err)
	}
	on := func(node string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "on-" + node, Namespace: metav1.NamespaceDefault},
			Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "main", Image: "main"}}},
		}
	}
	for _, o := range []client.Object{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "stays"}}, on("stays"), on("gone")} {
		if err := s.Store.Create(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
	if got := (groupClient{groups: s.groups}).evicting(); got != 1 {
		t.Errorf("%d pods are counted, want the one on the node that is gone", got)
	}
}
