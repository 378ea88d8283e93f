package world_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// A pod that a disruption moves counts at its new place: it gets no other place, and no other pod gets
// its place.
func TestArrangedPlaces(t *testing.T) {
	t.Parallel()
	clock := testclock.NewFakePassiveClock(noon)
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
	leaving, staying := node(0), node(1)
	leaving.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
	ref := pod(1, leaving.Name)
	yes := true
	ref.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	for _, object := range []any{leaving, staying, ref} {
		w.Put(object)
	}
	moved := world.PodRef{UID: ref.UID, Namespace: ref.Namespace, Name: ref.Name}
	where := func() (string, bool) {
		p := w.Picture(world.Moment{Now: noon}).Snapshot.Pods[0]
		return p.Node, p.Tie.Promised
	}
	if at, promised := where(); at != leaving.Name || promised {
		t.Errorf("before: on %s, promised: %t", at, promised)
	}
	w.Arrange(staying.Name, "x7k2p", []world.PodRef{moved})
	if at, promised := where(); at != staying.Name || !promised {
		t.Errorf("arranged: on %s, promised: %t", at, promised)
	}
	w.CancelPlaces([]world.PodRef{moved})
	if at, _ := where(); at != leaving.Name {
		t.Errorf("taken back: on %s", at)
	}

	w.Arrange(staying.Name, "x7k2p", []world.PodRef{moved})
	w.Remove(ref)
	heir := pod(2, "")
	heir.OwnerReferences = ref.OwnerReferences
	w.Put(heir)
	come := world.PodRef{UID: heir.UID, Namespace: heir.Namespace, Name: heir.Name}
	if by := w.DisplacedBy(come); by != "x7k2p" {
		t.Errorf("the pod that came instead came because of %q", by)
	}
	if by := w.DisplacedBy(come); by != "" {
		t.Errorf("one pod went, two came because of it: %q", by)
	}
	w.Put(ref)
	w.Arrange(staying.Name, "x7k2p", []world.PodRef{moved})
	w.Remove(ref)
	clock.SetTime(noon.Add(time.Hour))
	if by := w.DisplacedBy(come); by != "" {
		t.Errorf("an hour later a pod comes because of %q", by)
	}
}

// The pods of a disruption are evicted in its order. The replacement of an evicted pod no longer has the
// place that was kept for that pod, and is known as a replacement.
func TestOrderOfEvictions(t *testing.T) {
	t.Parallel()
	clock := testclock.NewFakePassiveClock(noon)
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
	leaving, staying := node(0), node(1)
	leaving.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
	first, second := pod(1, leaving.Name), pod(2, leaving.Name)
	yes := true
	for _, p := range []*corev1.Pod{first, second} {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}}
	}
	for _, object := range []any{leaving, staying, first, second} {
		w.Put(object)
	}
	ref := func(p *corev1.Pod) world.PodRef {
		return world.PodRef{UID: p.UID, Namespace: p.Namespace, Name: p.Name}
	}
	w.Disruptions().Begin(world.Underway{
		Places: []world.Place{{On: staying.Name, Pods: []world.PodRef{ref(second), ref(first)}}}, Evict: []types.UID{first.UID, second.UID},
	})
	clock.SetTime(noon.Add(time.Minute))
	if wait := w.Turn(second.UID); wait != 25*time.Millisecond {
		t.Errorf("the second pod waits for %s, want 25ms", wait)
	}
	clock.SetTime(noon.Add(time.Minute + 10*time.Millisecond)) // the first pod's node closed later
	if first, second := w.Turn(first.UID), w.Turn(second.UID); first != 0 || second != 15*time.Millisecond {
		t.Errorf("the pods wait for %s and %s, want 0 and 15ms since the line has begun", first, second)
	}
	waiting := func() snapshot.Waiting { return w.Picture(world.Moment{Now: noon}).Snapshot.Waiting }
	if n := waiting().Evicting; n != 2 {
		t.Errorf("%d pods are to be evicted", n)
	}
	ending := first.DeepCopy()
	ending.DeletionTimestamp = &metav1.Time{Time: noon}
	w.Put(ending)
	heir := pod(3, "")
	heir.OwnerReferences, heir.Status = first.OwnerReferences, corev1.PodStatus{}
	w.Put(heir)
	if is := waiting(); is.Evicting != 1 || len(is.Lost) != 1 || is.Lost[0].UID != string(heir.UID) {
		t.Errorf("after the first: %d to be evicted, lost: %v", is.Evicting, is.Lost)
	}
}
