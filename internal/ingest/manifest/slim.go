package manifest

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/internal/trim"
)

// slim drops the fields that no decision reads, which are most of a pod that kubectl printed: tens of
// thousands of pods are kept at once.
func slim(o metav1.Object) {
	o.SetManagedFields(nil)
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			c := &list[i]
			list[i] = corev1.Container{Name: c.Name, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy}
		}
	}
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			c := &list[i]
			list[i] = corev1.ContainerStatus{Name: c.Name, Resources: c.Resources, AllocatedResources: c.AllocatedResources}
		}
	}
	pod.Spec.Volumes = trim.Volumes(pod.Spec.Volumes)
}
