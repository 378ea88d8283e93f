package podresources_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helper "k8s.io/component-helpers/resource"

	"tenon/internal/podresources"
)

// TestThePodStaysAsItIs: quantities that are kept as decimals get no overhead added in the pod itself, however often they are added up.
func TestThePodStaysAsItIs(t *testing.T) {
	t.Parallel()
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	for _, cpu := range []string{"9223372036854775807", "2", "100m", "1e30"} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Overhead: list("100m"), Resources: &corev1.ResourceRequirements{Requests: list(cpu), Limits: list(cpu)}}}
		before, want := pod.DeepCopy(), resource.MustParse(cpu)
		want.Add(resource.MustParse("100m"))
		for range 2 {
			for name, got := range map[string]corev1.ResourceList{
				"requests": podresources.Requests(pod, helper.PodResourcesOptions{}), "limits": podresources.Limits(pod, helper.PodResourcesOptions{}),
			} {
				if got.Cpu().Cmp(want) != 0 {
					t.Errorf("%s of %s with an overhead of 100m are %s, want %s", name, cpu, got.Cpu(), &want)
				}
			}
		}
		if !reflect.DeepEqual(pod, before) {
			t.Errorf("a pod with a CPU of %s was changed: %v", cpu, pod.Spec.Resources)
		}
	}
}
