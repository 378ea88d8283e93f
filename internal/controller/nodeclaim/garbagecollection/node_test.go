package garbagecollection

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

// TestGhosts: which nodes were not registered before their machine went.
func TestGhosts(t *testing.T) {
	t.Parallel()
	node := func(change func(*corev1.Node)) corev1.Node {
		node := corev1.Node{}
		node.Name, node.Spec.ProviderID = "n", "gone"
		node.Labels = map[string]string{karpenterv1.LabelNodePool: "web"}
		node.CreationTimestamp.Time = now.Add(-time.Hour)
		node.Spec.Taints = []corev1.Taint{karpenterv1.TaintUnregistered()}
		change(&node)
		return node
	}
	shown := []cloud.Instance{{ProviderID: "here", State: cloud.Running}, {ProviderID: "ending", State: cloud.Terminating}}
	for name, tc := range map[string]struct {
		node corev1.Node
		want bool
	}{
		"its machine is gone":                {node(func(*corev1.Node) {}), true},
		"its machine is on its way out":      {node(func(n *corev1.Node) { n.Spec.ProviderID = "ending" }), true},
		"it is of no pool":                   {node(func(n *corev1.Node) { n.Labels = nil }), false},
		"it is of a pool of others":          {node(func(n *corev1.Node) { n.Labels[karpenterv1.LabelNodePool] = "theirs" }), false},
		"its machine is there":               {node(func(n *corev1.Node) { n.Spec.ProviderID = "here" }), false},
		"a claim knows its machine":          {node(func(n *corev1.Node) { n.Spec.ProviderID = "claimed" }), false},
		"it was taken in":                    {node(func(n *corev1.Node) { n.Spec.Taints = nil }), false},
		"it is ready":                        {node(harness.Ready), false},
		"it has just joined":                 {node(func(n *corev1.Node) { n.CreationTimestamp.Time = now.Add(-time.Second) }), false},
		"its machine is not known":           {node(func(n *corev1.Node) { n.Spec.ProviderID = "" }), false},
		"it is being deleted already anyway": {node(func(n *corev1.Node) { n.DeletionTimestamp = &n.CreationTimestamp }), false},
	} {
		claims := []karpenterv1.NodeClaim{claimed("a", "claimed", time.Hour)}
		if got := len(instanceless([]corev1.Node{tc.node}, map[string]bool{"web": true}, claims, shown, now, about())) > 0; got != tc.want {
			t.Errorf("%s: collected %t, want %t", name, got, tc.want)
		}
	}
}

// TestGhostGoes: a node whose machine went before it was registered is deleted, and one whose
// machine the list has forgotten is not.
func TestGhostGoes(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	for _, name := range []string{"gone", "forgotten"} {
		i := launch(t, r, name)
		r.Join(i, func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{karpenterv1.TaintUnregistered()}
			n.Labels = map[string]string{karpenterv1.LabelNodePool: "web"}
		})
		claim := r.Claim(name)
		claim.Finalizers = nil
		r.Must(r.API.Update(context.Background(), claim))
		r.Must(r.API.Delete(context.Background(), claim))
		if name == "gone" {
			r.Far.Kill(i.ProviderID)
		}
	}
	r.Clock.Step(time.Hour)
	r.Cloud(func(p cloud.Provider) cloud.Provider { return partial{p} })
	r.Run(New(r.Kit, 1), "")
	if r.Get("node-gone", &corev1.Node{}) || !r.Get("node-forgotten", &corev1.Node{}) {
		t.Error("the wrong node went, or none")
	}
}

// TestBereft: a claim in use whose node was deleted without its finalizer goes after a while, with
// its machine; one whose node only the cache lacks, and one that nothing has joined for yet, stay.
func TestBereft(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{}, harness.Pool("web"))
	for _, name := range []string{"nodeless", "waits"} {
		launch(t, r, name)
	}
	claim := r.Claim("nodeless")
	conditions := claim.Conditions(r.Clock.Now())
	conditions.SetTrue(karpenterv1.ConditionRegistered)
	claim.Status.Conditions, claim.Status.NodeName = conditions.List(), "node-nodeless"
	r.Put(claim)
	c := New(r.Kit, 1)
	r.Run(c, "")
	r.Clock.Step(nodelessFor - time.Second)
	r.Run(c, "")
	if deleted(r, "nodeless") {
		t.Error("deleted although the node may come back")
	}
	node := &corev1.Node{}
	node.Name = "node-nodeless"
	r.Must(r.API.Create(context.Background(), node)) // without its provider ID the cache's index does not show it
	r.Clock.Step(time.Second)
	r.Run(c, "")
	if deleted(r, "nodeless") {
		t.Error("deleted although the API server knows its node")
	}
	r.Must(r.API.Delete(context.Background(), node, client.Preconditions{UID: &node.UID}))
	r.Run(c, "")
	if !deleted(r, "nodeless") || deleted(r, "waits") {
		t.Errorf("deleted: nodeless %t, waits %t; want the first only", deleted(r, "nodeless"), deleted(r, "waits"))
	}
}
