package world_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// A ReplicaSet that was created a moment ago is waited for until it has made a pod, cannot make any, or ten seconds have passed.
func TestReplicaSetsWithoutPods(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]struct {
		happens func(w *world.World, clock *testclock.FakePassiveClock, s *appsv1.ReplicaSet)
		waits   bool
	}{
		"nothing":        {func(*world.World, *testclock.FakePassiveClock, *appsv1.ReplicaSet) {}, true},
		"it makes a pod": {func(w *world.World, _ *testclock.FakePassiveClock, _ *appsv1.ReplicaSet) { w.Put(pod(1, "")) }, false},
		"another does":   {func(w *world.World, _ *testclock.FakePassiveClock, _ *appsv1.ReplicaSet) { w.Put(pod(2, "")) }, true},
		"ten seconds pass": {func(_ *world.World, c *testclock.FakePassiveClock, _ *appsv1.ReplicaSet) {
			c.SetTime(noon.Add(10 * time.Second))
		}, false},
		"it is deleted": {func(w *world.World, _ *testclock.FakePassiveClock, s *appsv1.ReplicaSet) { w.Remove(s) }, false},
		"it wants none": {func(w *world.World, _ *testclock.FakePassiveClock, s *appsv1.ReplicaSet) {
			s.ResourceVersion, s.Spec.Replicas = "2", new(int32)
			w.Put(s)
		}, false},
		"its pods are refused": {func(w *world.World, _ *testclock.FakePassiveClock, s *appsv1.ReplicaSet) {
			s.ResourceVersion, s.Status.Conditions = "2", []appsv1.ReplicaSetCondition{{Type: appsv1.ReplicaSetReplicaFailure, Status: "True"}}
			w.Put(s)
		}, false},
	} {
		clock := testclock.NewFakePassiveClock(noon)
		w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
		old := set(3) // known since long ago, to a process that starts
		old.CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
		w.Put(old)
		if since := w.Pulse().Unmade; !since.IsZero() {
			t.Errorf("%s: an old set is waited for since %s", name, since)
		}
		young := set(1)
		young.CreationTimestamp = metav1.NewTime(noon.Add(-time.Second))
		w.Put(young)
		if since := w.Pulse().Unmade; !since.Equal(noon) {
			t.Errorf("%s: waited for since %s", name, since)
		}
		then.happens(w, clock, young.DeepCopy())
		if waits := !w.Pulse().Unmade.IsZero(); waits != then.waits {
			t.Errorf("%s: it is waited for: %t", name, waits)
		}
	}
}

// After a ReplicaSet was waited for in vain, no other of its namespace is waited for during the next minute.
func TestReplicaSetsAreNotWaitedForInVainTwice(t *testing.T) {
	t.Parallel()
	clock := testclock.NewFakePassiveClock(noon)
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
	number := 0
	create := func(namespace string) {
		number++
		s := set(number)
		s.Namespace, s.CreationTimestamp = namespace, metav1.NewTime(clock.Now())
		w.Put(s)
	}
	create("one")
	for _, step := range []struct {
		after     time.Duration
		namespace string
		waits     bool
	}{{10 * time.Second, "one", false}, {20 * time.Second, "two", true}, {69 * time.Second, "one", false}, {140 * time.Second, "one", true}} {
		clock.SetTime(noon.Add(step.after))
		w.Pulse() // forgets those that were waited for in vain
		create(step.namespace)
		if waits := !w.Pulse().Unmade.IsZero(); waits != step.waits {
			t.Errorf("after %s, namespace %s: waits is %t", step.after, step.namespace, waits)
		}
	}
}
