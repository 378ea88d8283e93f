package meter

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
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
	loads := map[string]*load{}
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
		options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
		requests, limits := resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options)
		l.requests.addPod(requests)
		l.limits.addPod(limits)
		if ofDaemonSet(pod) {
			l.daemonRequests.addPod(requests)
			l.daemonLimits.addPod(limits)
		}
	}
	return loads
}

func (a amounts) addPod(list corev1.ResourceList) {
	a.add(list, 1)
	a[corev1.ResourcePods]++
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
