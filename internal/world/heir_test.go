package world_test

import (
	"testing"

	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud/aws/instancetype"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// A claim whose node was removed is not a future node, but counts towards limits. A claim whose node has
// not been seen yet is a future node.
func TestANodeThatWasTakenAwayIsNoRoom(t *testing.T) {
	t.Parallel()
	w := world.New(ingest.Options{Vocabulary: instancetype.Vocabulary(), Unjudged: true}, testclock.NewFakePassiveClock(noon))
	joined := node(0)
	used, young := claim(0), claim(0)
	conditions := used.Conditions(noon)
	conditions.SetTrue(karpenterv1.ConditionRegistered)
	used.Status.Conditions, used.ResourceVersion = conditions.List(), "2"
	young.Status.Conditions, young.ResourceVersion = nil, "3"
	ours := joined.DeepCopy()
	ours.Finalizers = nil

	for _, step := range []struct {
		what    string
		do      func()
		leaving bool
	}{
		{"a claim in use, its node not seen yet", func() { w.Put(pool(0)); w.Put(used) }, false},
		{"its node is here", func() { w.Put(joined) }, false},
		{"its node was taken away", func() { w.Remove(joined) }, true},
		{"its node has joined anew", func() { w.Put(ours) }, false},
		{"and was taken away again", func() { w.Remove(ours) }, true},
		{"the claim was removed, and is made anew", func() { w.Remove(used); w.Put(young) }, false},
		{"a node goes that was never taken in", func() { w.Put(joined); w.Remove(joined) }, false},
	} {
		step.do()
		nodes := w.Picture(world.Moment{Now: noon}).Snapshot.Nodes
		if len(nodes) != 1 || nodes[0].Leaving != step.leaving || !nodes[0].Counts() {
			t.Errorf("%s: %d nodes, leaving %t, want %t, and limits are to count it", step.what, len(nodes), len(nodes) > 0 && nodes[0].Leaving, step.leaving)
		}
	}
}
