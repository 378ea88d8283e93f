package consistency

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// promised makes a claim that was promised 4 cores and 16Gi.
func promised(r *harness.Harness, done bool) *karpenterv1.NodeClaim {
	claim := r.Named("web-1", "web")
	claim.Spec.Resources.Requests = quantities("cpu", "1", "memory", "1Gi", "gpu", "0", "storage", "1Gi")
	claim.Status.ProviderID = "p"
	claim.Status.Capacity = quantities("cpu", "4", "memory", "16Gi", "gpu", "1")
	conditions := claim.Conditions(r.Clock.Now())
	claim.Status.Conditions = conditions.List()
	if r.Put(claim); done {
		finish(r, claim)
	}
	return claim
}

// finish initializes the claim.
func finish(r *harness.Harness, claim *karpenterv1.NodeClaim) {
	conditions := claim.Conditions(r.Clock.Now())
	for _, name := range []string{"Launched", "Registered", "Initialized"} {
		conditions.SetTrue(name)
	}
	claim.Status.Conditions = conditions.List()
	r.Put(claim)
}

// TestConsistency: the condition and the event, and that they go when the node has grown.
func TestConsistency(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	claim := promised(r, false)
	c := New(r.Kit)
	condition := func() string {
		found, _ := r.Claim("web-1").Conditions(r.Clock.Now()).Get(karpenterv1.ConditionConsistentStateFound)
		return string(found.Status) + " " + found.Reason + " " + found.Message
	}
	if again := r.Run(c, "web-1"); again != reconcile.Never || condition() != "  " {
		t.Errorf("without a node: again in %s, %s", again.After, condition())
	}
	node := r.Join(cloud.Instance{ProviderID: "p", ClaimName: "web-1"})
	node.Status.Capacity = quantities("cpu", "1", "memory", "16Gi")
	r.Put(node)
	if again := r.Run(c, "web-1"); again != reconcile.Never || condition() != "  " {
		t.Errorf("while the node starts: again in %s, %s", again.After, condition())
	}
	finish(r, claim)
	if again := r.Run(c, "web-1").After; again != period {
		t.Errorf("again in %s", again)
	}
	if got := condition(); got != "False ConsistencyCheckFailed Consistency Check Failed" {
		t.Error(got)
	}
	want := []string{"Warning FailedConsistencyCheck web-1: expected 4 of resource cpu, but found 1 (25.0% of expected)"}
	if diff := cmp.Diff(want, r.Events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	node.Status.Capacity = quantities("cpu", "4", "memory", "16Gi")
	r.Put(node)
	r.Fail(func(c harness.Call) error {
		if c.IsWrite() {
			return harness.Conflict(c)
		}
		return nil
	})
	if again := r.Run(c, "web-1").After; again != time.Second {
		t.Errorf("again in %s after a conflict", again)
	}
	r.Fail(nil)
	r.Run(c, "web-1")
	if got := condition(); got != "True ConsistentStateFound " {
		t.Error(got)
	}
	r.Calls()
	r.Run(c, "web-1")
	for _, call := range r.Calls() {
		if call.IsWrite() {
			t.Errorf("written again: %v", call)
		}
	}
}

// TestWakes: heartbeats wake no controller; a node that changes its size wakes its claim.
func TestWakes(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	claim := promised(r, true)
	node := r.Join(cloud.Instance{ProviderID: "p", ClaimName: "web-1"}, harness.Ready)
	watches := New(r.Kit).Watches
	beat, larger, younger := node.DeepCopy(), node.DeepCopy(), claim.DeepCopy()
	beat.Labels = map[string]string{"some": "label"}
	larger.Status.Capacity = quantities("cpu", "8")
	younger.Status.Conditions = nil
	for name, tc := range map[string]struct{ got, want bool }{
		"a node joins":           {watches[1].Wakes(nil, node), true},
		"a node has a new label": {watches[1].Wakes(node, beat), false},
		"a node grows":           {watches[1].Wakes(node, larger), true},
		"a node goes":            {watches[1].Wakes(node, nil), false},
		"a claim appears":        {watches[0].Wakes(nil, claim), true},
		"a claim stays":          {watches[0].Wakes(claim, claim), false},
		"a claim is initialized": {watches[0].Wakes(younger, claim), true},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: wakes %t", name, tc.got)
		}
	}
	if keys := watches[1].KeysOf(context.Background(), node); len(keys) != 1 || keys[0].Name != "web-1" {
		t.Errorf("wakes %v", keys)
	}
}
