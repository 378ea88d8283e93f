package cloudstories

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	awsv1 "tenon/api/aws/v1"
)

// A class's kubelet settings limit how many pods a node takes: a number, one number for each processor,
// or the smaller of both. Claims, nodes and the choice of machines agree on it.
func TestStaticPodDensity(t *testing.T) {
	s := tell(t)
	classes := map[string]struct {
		kubelet     awsv1.KubeletConfiguration
		room, nodes int
	}{
		"few":      {awsv1.KubeletConfiguration{MaxPods: number(8)}, 8, 3},
		"per-core": {awsv1.KubeletConfiguration{PodsPerCore: number(5)}, 10, 2},
		"both":     {awsv1.KubeletConfiguration{MaxPods: number(20), PodsPerCore: number(6)}, 12, 2},
	}
	for name, class := range classes {
		s.class(name, "al2023@latest", func(spec *awsv1.EC2NodeClassSpec) { spec.Kubelet = &class.kubelet })
		s.pool(name, and(small, v1.LabelInstanceTypeStable, "m6a.large"))
		s.deployOf(name, 20, "10m") // only the pod limit bounds them
	}
	for name, class := range classes {
		nodes := nodesOf(s.Running(name, 20))
		if nodes.Len() != class.nodes {
			t.Errorf("%s: 20 pods are on %d nodes, want %d", name, nodes.Len(), class.nodes)
		}
		for _, claim := range s.claims(t.Context()) {
			if room := claim.Status.Allocatable.Pods().Value(); nodes.Has(claim.Status.NodeName) && room != int64(class.room) {
				t.Errorf("%s: claim %s has room for %d pods, want %d", name, claim.Name, room, class.room)
			}
		}
		for _, node := range sets.List(nodes) {
			found, err := s.Lab.Clients.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if room := found.Status.Allocatable.Pods().Value(); room != int64(class.room) {
				t.Errorf("%s: node %s takes %d pods, want %d", name, node, room, class.room)
			}
		}
	}
}

func number(n int32) *int32 { return &n }
