package stories

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
)

// A buffer keeps room for two pods: a node comes although no pod waits. New pods are bound to it at once,
// and another node comes for the buffer as soon as the pool's limit allows it. When the buffer is deleted, only the node with
// pods stays.
func TestBufferKeepsRoom(t *testing.T) {
	s := tell(t)
	s.Within *= 2 // an empty node goes half a minute after its last pod, at the next evaluation, and those are rarer on a busy machine
	s.apply("basic.yaml", "inflate.yaml", "buffer.yaml")
	buffer := &autoscalingv1beta1.CapacityBuffer{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "spare"}}
	s.AwaitCondition(buffer, autoscalingv1beta1.ConditionReadyForProvisioning, metav1.ConditionTrue, "Pod template resolved successfully")
	first := s.awaitClaims(1)[0]
	s.AwaitCondition(&first, "Initialized", metav1.ConditionTrue)
	s.AwaitCondition(buffer, autoscalingv1beta1.ConditionProvisioning, metav1.ConditionTrue, "All 2 virtual pods fit on existing capacity")
	s.Patch(s.pool("default"), `{"spec":{"limits":{"nodes":"1"}}}`) // so that no other node is there while kube-scheduler binds the pods
	s.Scale("inflate", 2)
	for _, pod := range s.Running("inflate", 2) {
		if got := s.claimOf(pod).Name; got != first.Name {
			t.Errorf("%s is on %s, and %s had room", pod.Name, got, first.Name)
		}
	}
	s.AwaitCondition(buffer, autoscalingv1beta1.ConditionProvisioning, metav1.ConditionFalse)
	s.Patch(s.pool("default"), `{"spec":{"limits":null}}`)
	s.awaitClaims(2)
	s.AwaitCondition(buffer, autoscalingv1beta1.ConditionProvisioning, metav1.ConditionTrue, "All 2 virtual pods fit on existing capacity")
	s.Delete(buffer)
	if left := s.awaitClaims(1); left[0].Name != first.Name {
		t.Errorf("%s is left, want %s with the pods", left[0].Name, first.Name)
	}
}
