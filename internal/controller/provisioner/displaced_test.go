package provisioner_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/ingest"
	"tenon/internal/world"
)

// The claim of an instance for a pod that a disruption displaced says so, so that the pod is not
// moved again; the claim for a pod that was not displaced does not.
func TestWhatIsBoughtForDisplacedPodsSaysSo(t *testing.T) {
	t.Parallel()
	h := newFixture(t, ready("general"))
	h.replicaSet("web", 1)
	h.replicaSet("new", 1)
	yes := true
	gone := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-before", UID: "before",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "uid-web", Controller: &yes}}}}
	gone.Spec.NodeName = "full"
	h.world.Put(gone)
	h.world.Arrange("roomy", "x7k2p", []world.PodRef{{UID: gone.UID, Namespace: gone.Namespace, Name: gone.Name}})
	h.world.Remove(gone)
	large := func(p *corev1.Pod) { // so that each has a node of its own
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				LabelSelector: &metav1.LabelSelector{}, TopologyKey: corev1.LabelHostname}}}}
	}
	h.pods("web", 1, judged, large)
	h.pods("new", 1, judged, large)
	came := h.Clock.Now()
	h.decide()

	var list karpenterv1.NodeClaimList
	h.Must(h.API.List(context.Background(), &list))
	said := map[string]int{}
	for i := range list.Items {
		said[list.Items[i].Annotations[ingest.AnnotationRearranged]]++
	}
	if since := came.UTC().Format(time.RFC3339); len(list.Items) != 2 || said[since] != 1 || said[""] != 1 {
		t.Errorf("%d claims, which say %v; one is to say %s", len(list.Items), said, since)
	}
	if by := h.world.DisplacedBy(world.PodRef{UID: types.UID("uid-web-0"), Namespace: "default", Name: "web-0"}); by != "" {
		t.Errorf("%s is to blame twice", by)
	}
}
