package world_test

import (
	"testing"

	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// The world wakes the loop when places may begin to expire: when a claim on which pods have their places
// says that its node is ready, even after the node itself said so.
func TestPlacesThatComeDueWakeTheLoop(t *testing.T) {
	t.Parallel()
	clock := testclock.NewFakePassiveClock(noon)
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, clock)
	young, ready := claim(0), claim(0)
	young.Status.Conditions, young.ResourceVersion = nil, "2"
	conditions := ready.Conditions(noon)
	conditions.SetTrue(karpenterv1.ConditionInitialized)
	ready.Status.Conditions, ready.ResourceVersion = conditions.List(), "3"
	waiting := pod(1, "")
	for _, object := range []any{pool(0), young, waiting, node(0)} {
		w.Put(object)
	}
	w.Commit(young.Name, []world.PodRef{{UID: waiting.UID, Namespace: waiting.Namespace, Name: waiting.Name}})
	if next := w.Settle(noon); !next.IsZero() {
		t.Fatalf("places are taken back at %s although nothing is ready", next)
	}
	woken := 0
	w.Subscribe(func() { woken++ })
	w.Put(ready)
	if next := w.Settle(noon); woken == 0 || next.IsZero() {
		t.Errorf("woken %d times, to look again at %s", woken, next)
	}
}
