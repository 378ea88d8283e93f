package provisioner_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/reason"
	"tenon/internal/command"
	"tenon/internal/world"
)

// TestAReplacementIsNotBoughtTwice: a disruption closes a node before it creates the replacement,
// and the claim states the reason later still. While another pod has no place, decisions happen in
// between: the running pods of the node have their places on the claim that will be created.
func TestAReplacementIsNotBoughtTwice(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 3)
	h.decide()
	lifecycle(h, "default-00001")
	h.pods("hopeless", 1, judged, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"no": "such"} })
	var moved []world.PodRef
	var pods corev1.PodList
	h.Must(h.API.List(context.Background(), &pods))
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Labels["app"] == "web" {
			p.Spec.NodeName = "node-default-00001"
			p.Status.Conditions = nil
			h.Must(h.API.Update(context.Background(), p))
			moved = append(moved, world.PodRef{UID: p.UID, Namespace: p.Namespace, Name: p.Name})
		}
	}
	h.watch()
	h.Clock.Step(11 * time.Second)
	h.decide() // the other pod has no place
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

	// The claim is refused, and the command taken back, but the node is removed all the same.
	h.world.CancelPlaces(moved)
	claim := h.Claim("default-00001")
	h.Delete(claim)
	h.watch()
	h.Clock.Step(11 * time.Second)
	h.decide()
	if n := len(h.claims()); n != 2 {
		t.Errorf("%d claims, when nothing is arranged for the pods of a node that goes", n)
	}
}

// TestARestartBuysNoReplacementTwice: the process died while it began a disruption. The next one finds
// the node closed, with or without the command on its claim, and no replacement: the command will be
// taken back, and the pods of the node need no other place.
func TestARestartBuysNoReplacementTwice(t *testing.T) {
	t.Parallel()
	for name, record := range map[string]string{
		"the claim is not seen yet": "",
		"the command is written":    (&command.Record{ID: "x7k2p", Claims: []command.Member{{Claim: "default-00001"}}, Replacements: []command.Member{{Claim: "default-next"}}}).String(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, ready("default"))
			h.pods("web", 3)
			h.decide()
			lifecycle(h, "default-00001")
			var pods corev1.PodList
			h.Must(h.API.List(context.Background(), &pods))
			for i := range pods.Items {
				pods.Items[i].Spec.NodeName = "node-default-00001"
				pods.Items[i].Status.Conditions = nil
				h.Must(h.API.Update(context.Background(), &pods.Items[i]))
			}
			h.pods("hopeless", 1, judged, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"no": "such"} })
			var node corev1.Node
			h.Get("node-default-00001", &node)
			node.Spec.Taints = append(node.Spec.Taints, karpenterv1.TaintDisrupted())
			h.Must(h.API.Update(context.Background(), &node))
			claim := h.Claim("default-00001")
			claim.Annotations = map[string]string{karpenterv1.AnnotationDisruption: record}
			h.Put(claim)
			h.start(h.Kit)
			for range 5 {
				h.Clock.Step(200 * time.Millisecond)
				h.decide()
			}
			h.expect("default 3")

			// Once the node is really removed, its pods need a place.
			h.Delete(h.Claim("default-00001"))
			h.watch()
			h.Clock.Step(11 * time.Second)
			h.decide()
			if n := len(h.claims()); n != 2 {
				t.Errorf("%d claims, when the node goes", n)
			}
		})
	}
}

// TestAPodThatCameLateIsNotBoughtFor: the scheduler bound a pod to a node just before it was closed, so
// that the disruption does not know the pod. A node for another pod is not made larger for it: the pod
// gets a place when it is evicted.
func TestAPodThatCameLateIsNotBoughtFor(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	h.pods("web", 2)
	h.decide()
	lifecycle(h, "default-00001")
	var node corev1.Node
	h.Get("node-default-00001", &node)
	node.Spec.Taints = append(node.Spec.Taints, karpenterv1.TaintDisrupted())
	h.Must(h.API.Update(context.Background(), &node))
	claim := h.Claim("default-00001")
	claim.Annotations = map[string]string{karpenterv1.AnnotationDisruption: (&command.Record{ID: "x7k2p", Claims: []command.Member{{Claim: claim.Name}}}).String()}
	h.Put(claim)
	claim = h.Claim(claim.Name)
	claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: karpenterv1.ConditionDisruptionReason, Status: metav1.ConditionTrue, Reason: "Underutilized"})
	h.Must(h.API.Status().Update(context.Background(), claim))
	var pods corev1.PodList
	h.Must(h.API.List(context.Background(), &pods))
	for i := range pods.Items {
		pods.Items[i].Spec.NodeName, pods.Items[i].Status.Conditions = node.Name, nil
		h.Must(h.API.Update(context.Background(), &pods.Items[i]))
	}
	h.watch()
	h.Clock.Step(time.Second)
	h.pods("new", 1)
	h.decide()
	h.expect("default 2", "default 1")
	if held := h.told.Plan.Held; len(held) != 2 || held[0].Delay.Code != reason.PlacesArranged {
		t.Errorf("held: %+v", held)
	}
	if again := h.Run(h.loop, "").After; again <= time.Second {
		t.Errorf("nothing changes with time alone, and the next look is after %s", again)
	}
}
