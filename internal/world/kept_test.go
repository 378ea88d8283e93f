package world_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// The place of an evicted pod stays taken until its ReplicaSet has made the pod's successor: otherwise a decision in that moment
// would give the room to others. Until then further moves wait: the successor may come elsewhere.
func TestAPlaceIsKeptForTheSuccessor(t *testing.T) {
	t.Parallel()
	const kept = "node-1 kept"
	cases := map[string]struct {
		change func(w *world.World, clock *testclock.FakePassiveClock, evicted *corev1.Pod)
		want   string
		moving int
	}{
		"it ends":      {func(*world.World, *testclock.FakePassiveClock, *corev1.Pod) {}, kept, 1},
		"it is gone":   {func(w *world.World, _ *testclock.FakePassiveClock, p *corev1.Pod) { w.Remove(p) }, kept, 1},
		"its node too": {func(w *world.World, _ *testclock.FakePassiveClock, p *corev1.Pod) { w.Remove(p); w.Remove(node(0)) }, kept, 1},
		"its successor is here while it ends": {func(w *world.World, _ *testclock.FakePassiveClock, _ *corev1.Pod) {
			w.Put(successor())
		}, "node-0, waits", 1},
		"its successor is here": {func(w *world.World, _ *testclock.FakePassiveClock, p *corev1.Pod) {
			w.Remove(p)
			w.Put(successor())
		}, "waits", 0},
		"its successor was seen first": {func(w *world.World, _ *testclock.FakePassiveClock, p *corev1.Pod) {
			w.Put(successor())
			w.Remove(p)
		}, "waits", 0},
		"the ReplicaSet wants one less": {func(w *world.World, _ *testclock.FakePassiveClock, p *corev1.Pod) {
			w.Remove(p)
			less := set(1)
			less.ResourceVersion, *less.Spec.Replicas = "2", 0
			w.Put(less)
		}, "", 0},
		"the node of the place is gone": {func(w *world.World, _ *testclock.FakePassiveClock, p *corev1.Pod) { w.Remove(p); w.Remove(node(1)) }, "", 1},
		"others are evicted after its successor was made": {func(w *world.World, clock *testclock.FakePassiveClock, p *corev1.Pod) {
			bound := successor()
			bound.Spec.NodeName = "node-1"
			w.Put(bound)
			w.Picture(world.Moment{Now: clock.Now()})
			more := set(1)
			more.ResourceVersion, *more.Spec.Replicas = "2", 2 // one is missing again
			w.Put(more)
			w.Remove(p)
		}, "node-1", 0},
		"it was never seen to end": {func(w *world.World, _ *testclock.FakePassiveClock, p *corev1.Pod) {
			lost := pod(1+2*manySets, "node-0")
			more := set(1)
			more.ResourceVersion, *more.Spec.Replicas = "2", 2
			w.Put(more)
			w.Put(lost)
			w.Arrange("node-1", "x7k2p", []world.PodRef{refOf(lost)})
			w.Remove(lost)
		}, kept + ", " + kept, 2},
		"no successor comes": {func(w *world.World, clock *testclock.FakePassiveClock, p *corev1.Pod) {
			w.Remove(p)
			w.Picture(world.Moment{Now: clock.Now()})
			clock.SetTime(clock.Now().Add(11 * time.Second))
		}, "", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := testclock.NewFakePassiveClock(noon)
			w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
			leaving, wants, moves := node(0), set(1), pod(1, "node-0")
			leaving.Spec.Taints = []corev1.Taint{karpenterv1.TaintDisrupted()}
			*wants.Spec.Replicas = 1
			for _, object := range []any{leaving, node(1), wants, moves} {
				w.Put(object)
			}
			w.Arrange("node-1", "x7k2p", []world.PodRef{refOf(moves)})
			ends := moves.DeepCopy()
			ends.ResourceVersion, ends.DeletionTimestamp = "2", &metav1.Time{Time: noon}
			w.Put(ends)
			tc.change(w, clock, ends)
			var got []string
			for _, p := range w.Picture(world.Moment{Now: clock.Now()}).Snapshot.Pods {
				switch {
				case p.Pending:
					got = append(got, "waits")
				case p.Tie.Promised && !p.Terminating:
					got = append(got, p.Node+" kept")
				default:
					got = append(got, p.Node)
				}
			}
			if got := strings.Join(got, ", "); got != tc.want {
				t.Errorf("the places are %q, want %q", got, tc.want)
			}
			if got := w.Transit().Moving; got != tc.moving {
				t.Errorf("moves wait for %d pods that disruptions move, want %d", got, tc.moving)
			}
		})
	}
}

// successor is a pod that the ReplicaSet of pod 1 makes in its place.
func successor() *corev1.Pod {
	out := pod(1+manySets, "")
	out.Status = corev1.PodStatus{Phase: corev1.PodPending}
	return out
}
