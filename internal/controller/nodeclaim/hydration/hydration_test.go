package hydration

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

const label = "memory.tenon.dev/memorynodeclass"

// TestHydration: a claim and its node get the class's label, and keep all others.
func TestHydration(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	claim := r.Named("web-1", "", func(c *karpenterv1.NodeClaim) { c.Labels["team"] = "red" })
	claim.Status.ProviderID = "p"
	r.Put(claim)
	node := r.Join(cloud.Instance{ProviderID: "p", ClaimName: "web-1"}, func(n *corev1.Node) { n.Labels["own"] = "yes" })
	both := New(r.Kit)
	if !both[0].Watches[0].Wakes(nil, claim) || !both[1].Watches[0].Wakes(nil, node) {
		t.Error("objects without the label do not wake the controller")
	}
	r.Run(both[0], "web-1")
	r.Run(both[1], node.Name)
	if labels := r.Claim("web-1").Labels; labels[label] != "default" || labels["team"] != "red" {
		t.Errorf("claim: %v", labels)
	}
	r.Get(node.Name, node)
	if node.Labels[label] != "default" || node.Labels["own"] != "yes" {
		t.Errorf("node: %v", node.Labels)
	}
	r.Calls()
	r.Run(both[0], "web-1")
	r.Run(both[1], node.Name)
	for _, c := range r.Calls() {
		if c.IsWrite() {
			t.Errorf("written again: %v", c)
		}
	}
	if both[0].Watches[0].Wakes(nil, r.Claim("web-1")) || both[1].Watches[0].Wakes(nil, node) {
		t.Error("objects with the label wake the controller")
	}
}

// TestLeftAlone: nodes and claims of others.
func TestLeftAlone(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	claim := r.Named("theirs", "", func(c *karpenterv1.NodeClaim) { c.Spec.NodeClassRef.Kind = "OtherClass" })
	claim.Status.ProviderID = "p"
	r.Put(claim)
	r.Join(cloud.Instance{ProviderID: "p", ClaimName: "theirs"})
	r.Join(cloud.Instance{ProviderID: "q", ClaimName: "nobody"})
	both := New(r.Kit)
	r.Run(both[0], "theirs")
	r.Run(both[1], "node-theirs")
	r.Run(both[1], "node-unknown")
	r.Run(both[1], "gone")
	for _, c := range r.Calls() {
		if c.IsWrite() {
			t.Errorf("written: %v", c)
		}
	}
}

// TestClaimThatLearns: a node that was there first is looked at when its claim gets the
// provider ID.
func TestClaimThatLearns(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	old := r.Named("web-1", "")
	r.Join(cloud.Instance{ProviderID: "p", ClaimName: "web-1"})
	changed := old.DeepCopy()
	changed.Status.ProviderID = "p"
	watch := New(r.Kit)[1].Watches[1]
	if !watch.Wakes(old, changed) || watch.Wakes(changed, changed) || watch.Wakes(nil, old) {
		t.Error("wakes at the wrong time")
	}
	if keys := watch.KeysOf(context.Background(), changed); len(keys) != 1 || keys[0].Name != "node-web-1" {
		t.Errorf("wakes %v", keys)
	}
}
