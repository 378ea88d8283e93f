package ingest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"tenon/api/scalar"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/internal/podresources"
)

// resources translates a list. Fractions of a unit are rounded up to a whole one, as the scheduler
// does with requests; negative quantities, which the API refuses, count as nothing.
func resources(list corev1.ResourceList) model.Resources {
	if len(list) == 0 {
		return model.Resources{}
	}
	return model.NewResources(amounts(list)...)
}

// amounts lists quantities sorted by name, zeros included.
func amounts(list corev1.ResourceList) []model.Amount {
	out := make([]model.Amount, 0, len(list))
	for _, name := range order.Keys(list) {
		out = append(out, model.Amount{Name: string(name), Value: amount(name, list[name])})
	}
	return out
}

func amount(name corev1.ResourceName, quantity resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return min(scalar.MilliAmount(quantity), scalar.MaxAmount)
	}
	return scalar.Amount(quantity)
}

// requests are what the pod takes from its node: the larger of containers together and
// init containers one by one (sidecars counted with both), pod-level resources where
// given, overhead, and while a resize is under way the larger of old and new. The pod
// itself counts as one of "pods".
func requests(pod *corev1.Pod) model.Resources {
	effective := podresources.Requests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: true,
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
	})
	out := resources(effective)
	out.Pods = 1 // a request for "pods" by name has no meaning
	return out
}

// resized reports whether the status of some container shows requests other than the spec's, so
// that the spec alone does not say what the pod takes.
func resized(pod *corev1.Pod) bool {
	return pod.Status.Resources != nil || pod.Status.AllocatedResources != nil || resourcehelper.IsPodResizeInfeasible(pod) ||
		differs(pod.Spec.Containers, pod.Status.ContainerStatuses) ||
		differs(pod.Spec.InitContainers, pod.Status.InitContainerStatuses)
}

func differs(containers []corev1.Container, statuses []corev1.ContainerStatus) bool {
	for i := range statuses {
		status := &statuses[i]
		if status.Resources == nil {
			continue
		}
		if c := containerNamed(containers, status.Name, i); c != nil &&
			!(within(status.Resources.Requests, c.Resources.Requests) && within(status.AllocatedResources, c.Resources.Requests)) {
			return true
		}
	}
	return false
}

// containerNamed tries the same position first, which is nearly always right.
func containerNamed(containers []corev1.Container, name string, hint int) *corev1.Container {
	if hint < len(containers) && containers[hint].Name == name {
		return &containers[hint]
	}
	for i := range containers {
		if containers[i].Name == name {
			return &containers[i]
		}
	}
	return nil
}

// within reports whether no quantity of list is larger than that of limit, so that limit is the
// larger of both.
func within(list, limit corev1.ResourceList) bool {
	for name, quantity := range list {
		if most, ok := limit[name]; !ok || quantity.Cmp(most) > 0 {
			return false
		}
	}
	return true
}
