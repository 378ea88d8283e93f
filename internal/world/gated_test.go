package world_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/testing/randomcluster"
	"tenon/internal/world"
)

// Pods that scheduling gates hold are in the picture by themselves, until the gates or the pods are gone.
func TestGatedPodsAreAside(t *testing.T) {
	t.Parallel()
	pod := func(name string, gates ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		for _, gate := range gates {
			p.Spec.SchedulingGates = append(p.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: gate})
		}
		return p
	}
	options := (&randomcluster.Cluster{}).Options()
	options.Files = false
	w := world.New(options, testclock.NewFakePassiveClock(randomcluster.Now))
	gated := func() []snapshot.Gated {
		return w.Picture(world.Moment{Now: randomcluster.Now, Settings: options.Settings}).Snapshot.Gated
	}
	all := []*corev1.Pod{pod("b", "x/one", "x/two"), pod("a", "x/one"), pod("c")}
	for _, p := range all {
		w.Put(p)
	}
	if diff := cmp.Diff(ingest.Build(&ingest.Objects{Pods: all}, options).Gated, gated()); diff != "" {
		t.Errorf("gated (-built +world):\n%s", diff)
	}
	w.Put(pod("b", "x/two"))
	w.Put(pod("a"))
	if diff := cmp.Diff([]snapshot.Gated{{Namespace: "default", Name: "b", Gates: []string{"x/two"}}}, gated()); diff != "" {
		t.Errorf("gated after an update (-want +got):\n%s", diff)
	}
	w.Put(pod("b"))
	if got := gated(); len(got) > 0 {
		t.Errorf("without a gate there is still %v", got)
	}
}
