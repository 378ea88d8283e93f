package intervention_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud/memory"
	"tenon/internal/controller/intervention"
	"tenon/internal/journal"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// changed is metadata of an object that a user has changed.
func changed(name, annotation string) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Name: name}
	if annotation != "" {
		out.Annotations = map[string]string{karpenterv1.AnnotationChangedByHand: annotation}
	}
	return out
}

// TestChangesReachTheJournal checks that the journal tells of changes of each kind of object, and that only an object whose
// annotation is new is looked at.
func TestChangesReachTheJournal(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	r.Kit.Settings.FeatureGates.NodeGroups = true
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	j, err := journal.Open(journal.Options{Bytes: 1 << 20}, start)
	if err != nil {
		t.Fatal(err)
	}
	const at = "2026-03-01T12:00:00Z "
	objects := []client.Object{
		&corev1.Node{ObjectMeta: changed("n-1", at+"alice: cordon")},
		&karpenterv1.NodeClaim{ObjectMeta: changed("c-1", at+"alice: remove")},
		&karpenterv1.NodePool{ObjectMeta: changed("web", at+"bob: pause")},
		&tenonv1alpha1.NodeGroup{ObjectMeta: changed("base", at+"bob: resume")},
		&corev1.Node{ObjectMeta: changed("n-2", "praise")},
		&corev1.Node{ObjectMeta: changed("n-3", "")},
	}
	c := intervention.New(r.Kit, j)[0]
	looked := 0
	for _, o := range objects {
		r.Must(r.API.Create(t.Context(), o))
		for _, w := range c.Watches {
			if sameKind(w.Kind, o) && w.Wakes(nil, o) {
				looked++
				if w.Wakes(o, o) || w.Wakes(o, nil) {
					t.Errorf("%s: looked at without a change", o.GetName())
				}
				for _, key := range w.KeysOf(t.Context(), o) {
					if _, err := c.Reconcile(t.Context(), key); err != nil {
						t.Errorf("%s: %v", o.GetName(), err)
					}
				}
			}
		}
	}
	if looked != 5 {
		t.Errorf("%d objects were looked at", looked)
	}
	if _, err := c.Reconcile(t.Context(), reconcile.Key{Namespace: "nodeclaim", Name: "gone"}); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
	tail := journal.NewTail(j, 0)
	r.Must(tail.Read(t.Context()))
	var got []string
	for _, e := range tail.Entries {
		got = append(got, e.Head())
	}
	want := []string{
		"hand: cordon node/n-1, by alice", "hand: remove nodeclaim/c-1, by alice", "hand: pause nodepool/web, by bob", "hand: resume nodegroup/base, by bob",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the journal has %q", got)
	}
	if none := intervention.New(r.Kit, nil); len(none) != 0 {
		t.Error("it runs without a journal")
	}
}

func sameKind(a, b client.Object) bool { return reflect.TypeOf(a) == reflect.TypeOf(b) }
