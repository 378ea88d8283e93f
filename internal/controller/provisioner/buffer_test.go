package provisioner_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
)

// buffering is a provisioner with a pool and a buffer for one pod of three cores.
func buffering(t *testing.T) *fixture {
	t.Helper()
	h := newFixture(t, ready("general"))
	h.Kit.Settings.FeatureGates.CapacityBuffer = true
	h.start(h.Kit)
	meta := metav1.ObjectMeta{Namespace: "default", Name: "spare", UID: "spare"}
	template := &corev1.PodTemplate{ObjectMeta: meta}
	template.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}}}
	b := &autoscalingv1beta1.CapacityBuffer{ObjectMeta: meta, Spec: autoscalingv1beta1.CapacityBufferSpec{
		Replicas: ptr.To(int32(1)), PodTemplateRef: &autoscalingv1beta1.LocalObjectRef{Name: "spare"}}}
	for _, o := range []any{template, b} {
		h.world.Put(o)
	}
	h.Must(h.API.Create(t.Context(), b))
	return h
}

// A buffer's node is bought once: while it starts it counts as room, and nothing more is bought.
func TestABufferIsBoughtForOnce(t *testing.T) {
	t.Parallel()
	h := buffering(t)
	h.decide()
	h.watch()
	h.expect("general 3")
	for range 5 {
		h.Clock.Step(11 * time.Second)
		h.Run(h.loop, "")
		h.watch()
	}
	h.expect("general 3")
}

// When the claims of a buffer fail repeatedly, the next ones are created after growing pauses.
func TestRefusedBuffersHavePauses(t *testing.T) {
	t.Parallel()
	h := buffering(t)
	made := 0
	for range 60 { // a minute
		h.Clock.Step(time.Second)
		h.Run(h.loop, "")
		var list karpenterv1.NodeClaimList
		h.Must(h.API.List(t.Context(), &list))
		for i := range list.Items { // the cloud has refused it
			made++
			h.Vanish(&list.Items[i])
			h.world.Put(&list.Items[i])
			h.world.Remove(&list.Items[i])
		}
	}
	if made < 3 || made > 8 {
		t.Errorf("%d claims in a minute", made)
	}
}
