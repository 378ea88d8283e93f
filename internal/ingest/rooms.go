package ingest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/model"
	"tenon/core/reason"
	"tenon/internal/quota"
)

// Rooms are what the ResourceQuotas of namespaces leave for pods that do not exist yet. They belong to one
// calculation.
type Rooms map[string]*quota.Room

// take reserves room for n pods like this one. It returns how many have room, and what refuses the others.
func (r Rooms) take(x *Index, pod *corev1.Pod, n int) (permitted int, refusal reason.Obstacles) {
	return r.Take(x.Quotas(pod.Namespace), pod, n)
}

// Take reserves room in the quotas of a pod's namespace for n pods like it, as take does. The first call for a namespace
// decides which quotas those are.
func (r Rooms) Take(quotas []*corev1.ResourceQuota, pod *corev1.Pod, n int) (permitted int, refusal reason.Obstacles) {
	room := r[pod.Namespace]
	if room == nil {
		room = quota.Of(counted(quotas))
		r[pod.Namespace] = room
	}
	permitted = room.Take(pod, n)
	if permitted == n {
		return n, nil
	}
	lack, _ := room.Lack(pod)
	detail := fmt.Sprintf("%s: %s wanted, %s of %s left", lack.Name, quantityOf(lack.Name, lack.Wanted), quantityOf(lack.Name, lack.Left), quantityOf(lack.Name, lack.All))
	return permitted, reason.Obstacles{{Code: reason.QuotaExceeded, Where: lack.Quota, Detail: detail}}
}

// quantityOf writes thousandths of a resource that a quota limits.
func quantityOf(name corev1.ResourceName, milli int64) string {
	bound := string(name)
	for _, prefix := range []string{"requests.", "limits."} {
		bound = strings.TrimPrefix(bound, prefix)
	}
	if bound == model.Memory || bound == model.EphemeralStorage || strings.HasPrefix(bound, corev1.ResourceHugePagesPrefix) {
		return reason.Quantity(bound, milli/1000)
	}
	return reason.Quantity(model.CPU, milli)
}

// counted treats quotas in files, which no controller has counted yet, as if nothing were used.
func counted(quotas []*corev1.ResourceQuota) []*corev1.ResourceQuota {
	out := make([]*corev1.ResourceQuota, len(quotas))
	for i, q := range quotas {
		if out[i] = q; len(q.Status.Hard) == 0 {
			out[i] = q.DeepCopy()
			out[i].Status.Hard = q.Spec.Hard
		}
	}
	return out
}
