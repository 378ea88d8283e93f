package ingest

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// admitted is a pod made from a template, with the requests that the API server would
// give it: a limit without a request is one, and a namespace's LimitRanges fill in what
// is still missing. The template is not changed.
func (t *Translator) admitted(pod *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	defaults := t.index.containerDefaults(namespaceOf(pod))
	for _, list := range [][]corev1.Container{out.Spec.InitContainers, out.Spec.Containers} {
		for i := range list {
			requests := &list[i].Resources.Requests
			*requests = completed(*requests, list[i].Resources.Limits)
			*requests = completed(*requests, defaults)
		}
	}
	completePodLevel(out)
	return out
}

// completed is list with missing resources added from more.
func completed(list, more corev1.ResourceList) corev1.ResourceList {
	out := list
	for name, quantity := range more {
		if _, has := list[name]; has {
			continue
		}
		if out == nil {
			out = corev1.ResourceList{}
		}
		out[name] = quantity
	}
	return out
}

// completePodLevel derives requests from the pod's own limits, unless the containers state their
// total.
func completePodLevel(pod *corev1.Pod) {
	own := pod.Spec.Resources
	if own == nil || len(own.Limits) == 0 {
		return
	}
	together := resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{})
	requests := maps.Clone(own.Requests)
	if requests == nil {
		requests = corev1.ResourceList{}
	}
	for name, quantity := range own.Limits {
		if _, has := requests[name]; has || !resourcehelper.IsSupportedPodLevelResource(name) {
			continue
		}
		if sum, has := together[name]; has {
			quantity = sum
		}
		requests[name] = quantity
	}
	own.Requests = requests
}

// containerDefaults are the requests that a namespace gives to containers without requests: of a
// LimitRange the default request, else the default limit, else the maximum or the minimum, as the
// API server completes LimitRanges themselves. Of several LimitRanges the first by name decides.
func (x *Index) containerDefaults(namespace string) corev1.ResourceList {
	var out corev1.ResourceList
	for _, limits := range x.limits.in(namespace) {
		for i := range limits.Spec.Limits {
			item := &limits.Spec.Limits[i]
			if item.Type != corev1.LimitTypeContainer {
				continue
			}
			for _, list := range []corev1.ResourceList{item.DefaultRequest, item.Default, item.Max, item.Min} {
				out = completed(out, positive(list))
			}
		}
	}
	return out
}

func positive(list corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, quantity := range list {
		if quantity.Cmp(resource.Quantity{}) > 0 {
			out[name] = quantity
		}
	}
	return out
}
