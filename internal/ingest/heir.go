package ingest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/surge"
)

// heirs counts the living pods that were made to replace a pod before it goes. Such a pod
// wants no other place any more: its heir wants one, or has it.
type heirs map[types.UID]int

// Replace notes that a pod is now like this. Either may be nil: one that is new was not,
// and one that is gone is not.
func (x *Index) Replace(was, is *corev1.Pod) {
	x.heirs.add(was, -1)
	x.heirs.add(is, 1)
}

func (h heirs) add(pod *corev1.Pod, n int) {
	if pod == nil {
		return
	}
	replaced := surge.Replaces(pod)
	if replaced == "" || replaced == pod.UID {
		return
	}
	if h[replaced] += n; h[replaced] <= 0 {
		delete(h, replaced)
	}
}

// surges reports whether the pod will be replaced before it goes rather than evicted, so
// that disruption budgets have no say. What its Deployment allows is looked at when it has
// to go; here counts what the pod and its ReplicaSet tell.
func (t *Translator) surges(pod *corev1.Pod) bool {
	if !surge.Foreseeable(pod) {
		return false
	}
	k, _, _ := controllerOf(pod)
	wanted, known := t.index.Wanted(k.namespace, k.name)
	return !known || wanted == 1
}
