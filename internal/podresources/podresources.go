// Package podresources computes what a pod requests in all, and its limits. Pods are of caches that others read: the computation does not change them.
package podresources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Requests are those of all containers together, or of the pod where it has its own, and its overhead.
func Requests(pod *corev1.Pod, options resource.PodResourcesOptions) corev1.ResourceList {
	return resource.PodRequests(apart(pod), options)
}

// Limits are those of all containers together, or of the pod where it has its own, and its overhead.
func Limits(pod *corev1.Pod, options resource.PodResourcesOptions) corev1.ResourceList {
	return resource.PodLimits(apart(pod), options)
}

// apart is the pod with resources of its own that are not those of the cache's object. The overhead is added to them in place, and a quantity that is
// too large or too fine for an integer, such as 9223372036854775807, has its digits behind a pointer that copies share.
func apart(pod *corev1.Pod) *corev1.Pod {
	if pod.Spec.Overhead == nil || pod.Spec.Resources == nil {
		return pod
	}
	own := *pod
	own.Spec.Resources = pod.Spec.Resources.DeepCopy()
	return &own
}
