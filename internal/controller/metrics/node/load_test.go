package node

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// workload is pods that share their containers, ten on a node.
func workload(pods int, cpu string) []corev1.Pod {
	containers := []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse("1Gi")},
	}}}
	out := make([]corev1.Pod, pods)
	for i := range out {
		out[i].Name = fmt.Sprint("p", i)
		out[i].Spec = corev1.PodSpec{NodeName: fmt.Sprint("n", i/10), Containers: containers}
	}
	return out
}

// Pods that share containers are weighed as if each had its own, and one that was resized counts by itself.
func TestSharedContainersAreWeighedOnce(t *testing.T) {
	t.Parallel()
	pods := append(workload(3, "1"), workload(2, "100m")...)
	pods[1].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", Resources: &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")},
	}}}
	pods[2].Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	got := weigh(pods)["n0"].requests
	want := amounts{corev1.ResourceCPU: 1 + 3 + 1.5 + 0.1 + 0.1, corev1.ResourceMemory: 5 << 30, corev1.ResourcePods: 5}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// BenchmarkWeigh is one round in a cluster of 5,000 pods.
func BenchmarkWeigh(b *testing.B) {
	pods := workload(5_000, "1500m")
	b.ReportAllocs()
	for b.Loop() {
		weigh(pods)
	}
}
