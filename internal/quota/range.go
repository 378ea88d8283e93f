package quota

import (
	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"tenon/internal/podresources"
)

// Permits reports whether LimitRanges let a pod like this one be made. What they give to
// containers that say nothing is in the pod already. Kubernetes: "Limit Ranges": "If a
// LimitRange is activated in a namespace for compute-related resources such as cpu and memory,
// you must specify requests or limits for those values. Otherwise, the system may reject Pod
// creation."
func Permits(ranges []*corev1.LimitRange, pod *corev1.Pod) bool {
	for _, r := range ranges {
		for i := range r.Spec.Limits {
			if !permits(&r.Spec.Limits[i], pod) {
				return false
			}
		}
	}
	return true
}

func permits(item *corev1.LimitRangeItem, pod *corev1.Pod) bool {
	switch item.Type {
	case corev1.LimitTypePod:
		options := resourcehelper.PodResourcesOptions{ExcludeOverhead: true}
		return within(item, podresources.Requests(pod, options), podresources.Limits(pod, options))
	case corev1.LimitTypeContainer:
		for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for i := range list {
				if !within(item, list[i].Resources.Requests, list[i].Resources.Limits) {
					return false
				}
			}
		}
	}
	return true
}

// within asks for a request of at least the minimum, and for a limit of at most the maximum.
func within(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) bool {
	for name, least := range item.Min {
		request, has := requests[name]
		if !has || request.Cmp(least) < 0 {
			return false
		}
	}
	for name, most := range item.Max {
		limit, has := limits[name]
		if !has || limit.Cmp(most) > 0 {
			return false
		}
		if request, asks := requests[name]; asks && request.Cmp(most) > 0 {
			return false
		}
	}
	return true
}
