package world_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// Our own condition on a claim does not cause another decision; what others write does.
func TestOurOwnVerdictIsNoChange(t *testing.T) {
	t.Parallel()
	claim := func(version string, change func(*karpenterv1.NodeClaim)) *karpenterv1.NodeClaim {
		out := &karpenterv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: version}}
		out.Status.Conditions = []metav1.Condition{{Type: karpenterv1.ConditionInitialized, Status: metav1.ConditionTrue}}
		change(out)
		return out
	}
	is := func(name string) func(*karpenterv1.NodeClaim) {
		return func(c *karpenterv1.NodeClaim) {
			c.Status.Conditions = append([]metav1.Condition{{Type: name, Status: metav1.ConditionTrue, Reason: name}}, c.Status.Conditions...)
		}
	}
	for name, tc := range map[string]struct {
		change func(*karpenterv1.NodeClaim)
		want   bool
	}{
		"our verdict":       {is(karpenterv1.ConditionDisruptable), false},
		"nothing":           {func(*karpenterv1.NodeClaim) {}, false},
		"a drift":           {is(karpenterv1.ConditionDrifted), true},
		"an annotation":     {func(c *karpenterv1.NodeClaim) { c.Annotations = map[string]string{"a": "b"} }, true},
		"a pod event":       {func(c *karpenterv1.NodeClaim) { c.Status.LastPodEventTime = metav1.NewTime(time.Unix(1, 0)) }, true},
		"a node has joined": {func(c *karpenterv1.NodeClaim) { c.Status.NodeName = "n" }, true},
		"it is deleted":     {func(c *karpenterv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, true},
	} {
		w := world.New(ingest.Options{}, clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
		w.Put(claim("1", func(*karpenterv1.NodeClaim) {}))
		before := w.Pulse().Changes
		w.Put(claim("2", tc.change))
		if got := w.Pulse().Changes != before; got != tc.want {
			t.Errorf("%s: counts as a change: %t", name, got)
		}
	}
}
