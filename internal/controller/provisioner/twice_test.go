package provisioner_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/world"
)

// TestAReplacementIsNotBoughtTwice: a disruption closes a node before it makes the replacement, and
// the claim says why later still. While another pod has no place, decisions come in between: the
// pods of the node, which still run, have their places on the claim that is to be made.
func TestAReplacementIsNotBoughtTwice(t *testing.T) {
	t.Parallel()
	h := newHouse(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	lifecycle(h, "default-00001")
	h.pods("hopeless", 1, judged, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"no": "such"} })
	var moved []world.Guest
	var pods corev1.PodList
	h.Must(h.API.List(context.Background(), &pods))
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Labels["app"] == "web" {
			p.Spec.NodeName = "node-default-00001"
			p.Status.Conditions = nil
			h.Must(h.API.Update(context.Background(), p))
			moved = append(moved, world.Guest{UID: p.UID, Namespace: p.Namespace, Name: p.Name})
		}
	}
	h.watch()
	h.Clock.Step(11 * time.Second)
	h.decide() // and the other pod stays without a place
	h.world.Arrange("default-next", "x7k2p", moved)
	var node corev1.Node
	h.Get("node-default-00001", &node)
	node.Spec.Taints = append(node.Spec.Taints, karpenterv1.TaintDisrupted())
	h.Must(h.API.Update(context.Background(), &node))
	h.watch()
	for range 5 {
		h.Clock.Step(200 * time.Millisecond)
		h.decide()
	}
	h.expect("default 3")

	// The claim is refused, and the command taken back, but the node goes all the same.
	h.world.Disarrange(moved)
	h.Clock.Step(11 * time.Second)
	h.decide()
	if n := len(h.claims()); n != 2 {
		t.Errorf("%d claims, when nothing is arranged for the pods of a node that goes", n)
	}
}
