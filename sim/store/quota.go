package store

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withinQuota refuses a pod that would exceed a quota of its namespace, and otherwise adds the pod to the used amounts,
// as admission does. The store supports quotas of the number of pods and of requested CPU. A quota
// whose usage has not been counted yet refuses every pod.
func (s *Store) withinQuota(object client.Object, try bool) error {
	pod, is := object.(*corev1.Pod)
	if !is {
		return nil
	}
	var taken []*corev1.ResourceQuota
	for _, q := range All[*corev1.ResourceQuota](s) {
		if q.Namespace != pod.Namespace {
			continue
		}
		next := q.DeepCopy()
		for name, asked := range Counted(pod) {
			if _, bounds := q.Spec.Hard[name]; !bounds {
				continue
			}
			hard, counted := q.Status.Hard[name]
			used := q.Status.Used[name]
			used = used.DeepCopy()
			if used.Add(asked); !counted || used.Cmp(hard) > 0 {
				return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name, fmt.Errorf("exceeded quota: %s, requested: %s=%s", q.Name, name, asked.String()))
			}
			if next.Status.Used == nil {
				next.Status.Used = corev1.ResourceList{}
			}
			next.Status.Used[name] = used
		}
		taken = append(taken, next)
	}
	if try {
		return nil
	}
	for _, next := range taken {
		s.commit(s.kinds[quotaKind], One[*corev1.ResourceQuota](s, client.ObjectKeyFromObject(next)), next)
	}
	return nil
}

var quotaKind = corev1.SchemeGroupVersion.WithKind("ResourceQuota")

// Counted is what a pod uses of the quotas that the store supports.
func Counted(pod *corev1.Pod) corev1.ResourceList {
	cpu := resource.Quantity{Format: resource.DecimalSI}
	for i := range pod.Spec.Containers {
		cpu.Add(*pod.Spec.Containers[i].Resources.Requests.Cpu())
	}
	return corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(1, resource.DecimalSI), corev1.ResourceRequestsCPU: cpu}
}
