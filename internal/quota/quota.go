// Package quota says how many more pods a namespace may have: what its ResourceQuotas leave
// free, and whether its LimitRanges let a pod be made at all. The answers are those of
// the API server's admission of the same names.
//
// It is values in, answers out: no client, no clock.
package quota

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"tenon/api/scalar"
	"tenon/core/order"
	"tenon/internal/podresources"
)

// Room is what the quotas of one namespace leave free, less what has been taken. It belongs
// to one calculation.
type Room struct{ shares []share }

// share is what one quota leaves free, by the names that it bounds.
type share struct {
	quota      *corev1.ResourceQuota
	hard, left map[corev1.ResourceName]int64
}

// Of is the room that quotas leave. Only their status counts, as with admission: a bound
// that the quota controller has not worked out yet lets nothing be made.
func Of(quotas []*corev1.ResourceQuota) *Room {
	out := &Room{}
	for _, q := range quotas {
		s := share{q, map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}}
		for name := range q.Spec.Hard {
			s.left[name] = 0
		}
		for name, hard := range q.Status.Hard {
			s.hard[name] = scalar.MilliAmount(hard)
			s.left[name] = max(s.hard[name]-scalar.MilliAmount(q.Status.Used[name]), 0)
		}
		out.shares = append(out.shares, s)
	}
	return out
}

// Take takes room for n pods like this one, or for as many as there is room for.
func (r *Room) Take(pod *corev1.Pod, n int) int {
	if len(r.shares) == 0 || n <= 0 {
		return max(n, 0)
	}
	each := Usage(pod)
	fits := int64(n)
	covering := slices.DeleteFunc(slices.Clone(r.shares), func(s share) bool { return !covers(s.quota, pod) })
	for _, s := range covering {
		for name, left := range s.left {
			if one := each[name]; one > 0 {
				fits = min(fits, left/one)
			}
		}
	}
	for _, s := range covering {
		for name := range s.left {
			s.left[name] -= fits * each[name]
		}
	}
	return int(fits)
}

// Lack is a bound of a quota that leaves no room for a pod, in thousandths.
type Lack struct {
	Quota             string
	Name              corev1.ResourceName
	Wanted, Left, All int64
}

// Lack returns the first bound that leaves no room for a pod like this one: by the name of the quota and of what it bounds.
func (r *Room) Lack(pod *corev1.Pod) (Lack, bool) {
	each := Usage(pod)
	for _, s := range r.shares {
		if !covers(s.quota, pod) {
			continue
		}
		for _, name := range order.Keys(s.left) {
			if one := each[name]; one > s.left[name] {
				return Lack{s.quota.Name, name, one, s.left[name], s.hard[name]}, true
			}
		}
	}
	return Lack{}, false
}

// Usage is what a pod takes of quotas, in thousandths. Kubernetes: "Resource Quotas", the
// tables of compute resources, extended resources and object counts.
func Usage(pod *corev1.Pod) map[corev1.ResourceName]int64 {
	out := map[corev1.ResourceName]int64{corev1.ResourcePods: 1000, "count/pods": 1000}
	for name, quantity := range podresources.Requests(pod, resourcehelper.PodResourcesOptions{}) {
		amount := scalar.MilliAmount(quantity)
		out[name], out["requests."+name] = amount, amount
	}
	for name, quantity := range podresources.Limits(pod, resourcehelper.PodResourcesOptions{}) {
		out["limits."+name] = scalar.MilliAmount(quantity)
	}
	out[corev1.ResourcePods] = 1000 // a request of that name has no meaning
	return out
}

// covers reports whether a quota counts the pod: all of its scopes match. Kubernetes:
// "Resource Quotas", quota scopes.
func covers(q *corev1.ResourceQuota, pod *corev1.Pod) bool {
	for _, scope := range q.Spec.Scopes {
		if !inScope(corev1.ScopedResourceSelectorRequirement{ScopeName: scope, Operator: corev1.ScopeSelectorOpExists}, pod) {
			return false
		}
	}
	if q.Spec.ScopeSelector == nil {
		return true
	}
	for _, wants := range q.Spec.ScopeSelector.MatchExpressions {
		if !inScope(wants, pod) {
			return false
		}
	}
	return true
}

func inScope(wants corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod) bool {
	switch wants.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return ends(pod)
	case corev1.ResourceQuotaScopeNotTerminating:
		return !ends(pod)
	case corev1.ResourceQuotaScopeBestEffort:
		return isBestEffort(pod)
	case corev1.ResourceQuotaScopeNotBestEffort:
		return !isBestEffort(pod)
	case corev1.ResourceQuotaScopePriorityClass:
		return ofClass(wants, pod.Spec.PriorityClassName)
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return looksAbroad(pod.Spec.Affinity)
	}
	return false // a scope of other objects
}

func ends(pod *corev1.Pod) bool {
	return pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
}

// isBestEffort reports whether nothing in the pod asks for or limits CPU or memory.
func isBestEffort(pod *corev1.Pod) bool {
	says := func(r corev1.ResourceRequirements) bool {
		for _, list := range []corev1.ResourceList{r.Requests, r.Limits} {
			if list.Cpu().Sign() > 0 || list.Memory().Sign() > 0 {
				return true
			}
		}
		return false
	}
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if says(list[i].Resources) {
				return false
			}
		}
	}
	return pod.Spec.Resources == nil || !says(*pod.Spec.Resources)
}

// ofClass matches as label selectors do: a pod without a class is not In, and is NotIn.
func ofClass(wants corev1.ScopedResourceSelectorRequirement, class string) bool {
	listed := slices.Contains(wants.Values, class)
	switch wants.Operator {
	case corev1.ScopeSelectorOpExists:
		return class != ""
	case corev1.ScopeSelectorOpDoesNotExist:
		return class == ""
	case corev1.ScopeSelectorOpIn:
		return class != "" && listed
	case corev1.ScopeSelectorOpNotIn:
		return class == "" || !listed
	}
	return false
}

// looksAbroad reports whether a rule about other pods looks at other namespaces.
func looksAbroad(a *corev1.Affinity) bool {
	if a == nil {
		return false
	}
	abroad := func(term corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	}
	weighted := func(term corev1.WeightedPodAffinityTerm) bool { return abroad(term.PodAffinityTerm) }
	if near := a.PodAffinity; near != nil && (slices.ContainsFunc(near.RequiredDuringSchedulingIgnoredDuringExecution, abroad) ||
		slices.ContainsFunc(near.PreferredDuringSchedulingIgnoredDuringExecution, weighted)) {
		return true
	}
	apart := a.PodAntiAffinity
	return apart != nil && (slices.ContainsFunc(apart.RequiredDuringSchedulingIgnoredDuringExecution, abroad) ||
		slices.ContainsFunc(apart.PreferredDuringSchedulingIgnoredDuringExecution, weighted))
}
