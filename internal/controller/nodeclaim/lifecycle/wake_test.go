package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// TestClaimsInServiceAreLeftAlone: what others write on a claim in service wakes no controller, while a
// claim that starts or goes is looked at after every change.
func TestClaimsInServiceAreLeftAlone(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	claim := func(changes ...func(*karpenterv1.NodeClaim)) *karpenterv1.NodeClaim {
		out := &karpenterv1.NodeClaim{}
		out.Generation, out.Finalizers, out.Status.ProviderID = 1, []string{karpenterv1.FinalizerTermination}, "p"
		conditions := out.Conditions(now)
		for _, name := range []string{karpenterv1.ConditionLaunched, karpenterv1.ConditionRegistered, karpenterv1.ConditionInitialized} {
			conditions.SetTrue(name)
		}
		out.Status.Conditions = conditions.List()
		for _, change := range changes {
			change(out)
		}
		return out
	}
	set := func(name string) func(*karpenterv1.NodeClaim) {
		return func(c *karpenterv1.NodeClaim) {
			conditions := c.Conditions(now)
			conditions.SetTrue(name)
			c.Status.Conditions = conditions.List()
		}
	}
	event := func(c *karpenterv1.NodeClaim) { c.Status.LastPodEventTime = metav1.NewTime(now) }
	starting := func(c *karpenterv1.NodeClaim) {
		conditions := c.Conditions(now)
		conditions.SetUnknown(karpenterv1.ConditionInitialized, "NodeNotReady", "")
		c.Status.Conditions = conditions.List()
	}
	leaving := func(c *karpenterv1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: now} }
	for name, tc := range map[string]struct {
		old, changed *karpenterv1.NodeClaim
		want         bool
	}{
		"a claim appears":                 {nil, claim(), true},
		"a claim is gone":                 {claim(leaving), nil, false},
		"a mark":                          {claim(), claim(set(karpenterv1.ConditionConsolidatable)), false},
		"a pod came":                      {claim(), claim(event), false},
		"a pod came while it starts":      {claim(starting), claim(starting, event), true},
		"a claim enters service":          {claim(starting), claim(), true},
		"a claim is put back":             {claim(), claim(starting), true},
		"a claim is deleted":              {claim(), claim(leaving), true},
		"a claim that goes is marked":     {claim(leaving), claim(leaving, set(karpenterv1.ConditionDrained)), true},
		"a finalizer was pulled":          {claim(), claim(func(c *karpenterv1.NodeClaim) { c.Finalizers = nil }), true},
		"another machine":                 {claim(), claim(func(c *karpenterv1.NodeClaim) { c.Status.ProviderID = "q" }), true},
		"another generation":              {claim(), claim(func(c *karpenterv1.NodeClaim) { c.Generation++ }), true},
		"a user removed Ready by hand":    {claim(), claim(func(c *karpenterv1.NodeClaim) { c.Status.Conditions = c.Status.Conditions[:3] }), true},
		"a user removed all that is said": {claim(), claim(func(c *karpenterv1.NodeClaim) { c.Status.Conditions = nil }), true},
	} {
		if got := wakes(tc.old, tc.changed); got != tc.want {
			t.Errorf("%s: wakes %t", name, got)
		}
	}
}

// wakes keeps nil pointers from becoming objects.
func wakes(old, changed *karpenterv1.NodeClaim) bool {
	switch {
	case old == nil:
		return claimMatters(nil, changed)
	case changed == nil:
		return claimMatters(old, nil)
	}
	return claimMatters(old, changed)
}
