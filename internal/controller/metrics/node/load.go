package node

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"tenon/internal/podresources"
)

// amounts of resources: cores of CPU, units of all others. They are for people to see.
type amounts map[corev1.ResourceName]float64

func (a amounts) add(list corev1.ResourceList, times float64) {
	for name, quantity := range list {
		a[name] += times * quantity.AsApproximateFloat64()
	}
}

func (a amounts) join(b amounts) {
	for name, value := range b {
		a[name] += value
	}
}

// load is what the pods of a node ask for.
type load struct {
	requests, limits, daemonRequests, daemonLimits amounts
}

// weigh adds up what pods ask for, by node. Pods that are done ask for nothing; a pod is one of
// the resource "pods".
func weigh(pods []corev1.Pod) map[string]*load {
	loads, known := map[string]*load{}, scales{}
	for i := range pods {
		pod := &pods[i]
		if pod.Spec.NodeName == "" || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		l := loads[pod.Spec.NodeName]
		if l == nil {
			l = &load{amounts{}, amounts{}, amounts{}, amounts{}}
			loads[pod.Spec.NodeName] = l
		}
		weight := known.of(pod)
		l.requests.join(weight.requests)
		l.limits.join(weight.limits)
		if ofDaemonSet(pod) {
			l.daemonRequests.join(weight.requests)
			l.daemonLimits.join(weight.limits)
		}
	}
	return loads
}

// weight is what one pod asks for, itself included.
type weight struct{ requests, limits amounts }

func weightOf(pod *corev1.Pod) weight {
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	out := weight{amounts{corev1.ResourcePods: 1}, amounts{corev1.ResourcePods: 1}}
	out.requests.add(podresources.Requests(pod, options), 1)
	out.limits.add(podresources.Limits(pod, options), 1)
	return out
}

// scales are weights by the containers that they are of. Caches have the pods of a workload share
// their containers (internal/trim), so one pod of each is weighed for all of them.
type scales map[shared]weight

type shared struct {
	containers, inits *corev1.Container
	lengths           [2]int
}

func (s scales) of(pod *corev1.Pod) weight {
	if !isPlain(pod) {
		return weightOf(pod)
	}
	key := shared{first(pod.Spec.Containers), first(pod.Spec.InitContainers), [2]int{len(pod.Spec.Containers), len(pod.Spec.InitContainers)}}
	out, known := s[key]
	if !known {
		out = weightOf(pod)
		s[key] = out
	}
	return out
}

func first(list []corev1.Container) *corev1.Container {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// isPlain reports whether only its containers say what a pod asks for.
func isPlain(pod *corev1.Pod) bool {
	return len(pod.Spec.Overhead) == 0 && pod.Spec.Resources == nil && len(pod.Status.ContainerStatuses) == 0 &&
		len(pod.Status.InitContainerStatuses) == 0 && !resourcehelper.IsPodResizeInfeasible(pod)
}

func ofDaemonSet(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "DaemonSet" && o.Controller != nil && *o.Controller
	})
}

// gauge is one that has a series for each resource of each node.
type gauge struct {
	name    string
	vec     *prometheus.GaugeVec
	amounts func(*corev1.Node, *load) amounts
}

func (c *controller) gauges() [6]gauge {
	m := c.kit.Metrics
	of := func(part func(*load) amounts) func(*corev1.Node, *load) amounts {
		return func(_ *corev1.Node, l *load) amounts {
			if l == nil {
				return nil
			}
			return part(l)
		}
	}
	return [6]gauge{
		{"allocatable", m.NodesAllocatable, func(n *corev1.Node, _ *load) amounts {
			out := amounts{}
			out.add(n.Status.Allocatable, 1)
			return out
		}},
		{"system_overhead", m.NodesSystemOverhead, func(n *corev1.Node, _ *load) amounts {
			out := amounts{}
			out.add(n.Status.Capacity, 1)
			out.add(n.Status.Allocatable, -1)
			return out
		}},
		{"total_pod_requests", m.NodesTotalPodRequests, of(func(l *load) amounts { return l.requests })},
		{"total_pod_limits", m.NodesTotalPodLimits, of(func(l *load) amounts { return l.limits })},
		{"total_daemon_requests", m.NodesTotalDaemonRequests, of(func(l *load) amounts { return l.daemonRequests })},
		{"total_daemon_limits", m.NodesTotalDaemonLimits, of(func(l *load) amounts { return l.daemonLimits })},
	}
}
