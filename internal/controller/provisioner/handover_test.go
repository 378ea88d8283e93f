package provisioner_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/core/reason"
	"tenon/internal/testing/harness"
)

// For ten seconds, nothing is bought for a new pod that gets the place of an ending pod of its workload;
// a plan of the snapshot says so.
func TestNewPodsTakeThePlacesOfEndingOnes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("default"))
	now, yes := metav1.NewTime(h.Clock.Now()), true
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "full"}}
	harness.Ready(node)
	node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("1")
	h.world.Put(node)
	h.replicaSet("web", 2)
	h.world.Put(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "old", UID: "uid-old", CreationTimestamp: now, DeletionTimestamp: &now,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid-web", Controller: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: "full", Containers: []corev1.Container{{Name: "c", Resources: cores("1")}}},
	})
	h.pods("web", 2)
	h.decide()
	h.expect("default 1")
	if held := h.told.Plan.Held; len(held) != 1 || held[0].Delay.Code != reason.PlaceHandedOver || !held[0].Delay.Until.Equal(now.Add(10*time.Second)) {
		t.Errorf("held: %+v", held)
	}
	if again := h.Run(h.loop, "").After; again <= 0 || again > time.Second {
		t.Errorf("the next look is after %s", again)
	}
	h.Clock.Step(10 * time.Second)
	h.decide()
	h.expect("default 1", "default 1")
}
