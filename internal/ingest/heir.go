package ingest

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/internal/owner"
	"tenon/internal/surge"
)

// heirs holds, for each pod, the running or pending pods that were made to replace it before it is
// evicted. The pod needs no other place: its heir needs one, or has one.
type heirs map[types.UID]map[key]*corev1.Pod

// Replace notes the change of a pod from one state to the next. The former is nil for a new pod, the
// latter for a deleted one.
func (x *Index) Replace(was, is *corev1.Pod) {
	x.consumers.replace(was, is)
	if replaced := replacedBy(was); replaced != "" {
		if delete(x.heirs[replaced], keyOf(was)); len(x.heirs[replaced]) == 0 {
			delete(x.heirs, replaced)
		}
	}
	if replaced := replacedBy(is); replaced != "" {
		if x.heirs[replaced] == nil {
			x.heirs[replaced] = map[key]*corev1.Pod{}
		}
		x.heirs[replaced][keyOf(is)] = is
	}
}

func replacedBy(pod *corev1.Pod) types.UID {
	if pod == nil || surge.Replaces(pod) == pod.UID {
		return ""
	}
	return surge.Replaces(pod)
}

// hasHeir reports whether another pod takes the place of this one. A pod names the pod whose place it
// takes; that counts only if the same Deployment made both. The watches may show a ReplicaSet later than
// its pod; until then the template of the Deployment counts, which names the pod that is being replaced.
func (x *Index) hasHeir(pod *corev1.Pod) bool {
	made := x.Workload(pod)
	if !made.IsA("apps/v1", "Deployment") {
		return false
	}
	for _, heir := range x.heirs[pod.UID] { // one is enough: the order does not matter
		if x.Workload(heir) == made || x.replacing(made, pod) && x.fromUnheard(heir, pod) {
			return true
		}
	}
	return false
}

// replacing reports whether a Deployment is replacing a pod, as its template says.
func (x *Index) replacing(deployment owner.Ref, pod *corev1.Pod) bool {
	d, known := named(x.deployments, "Deployment", deployment)
	return known && surge.Asked(d, pod)
}

// fromUnheard reports whether a pod was made by a ReplicaSet in the other pod's namespace that no watch has shown yet.
func (x *Index) fromUnheard(heir, pod *corev1.Pod) bool {
	set := owner.Of(heir)
	return set.IsA("apps/v1", "ReplicaSet") && namespaceOf(heir) == namespaceOf(pod) && !x.Heard(set)
}

// surges reports whether the pod will be replaced before its node is removed instead of being evicted, so
// that disruption budgets do not apply.
func (t *Translator) surges(pod *corev1.Pod) bool {
	if !surge.Wanted(pod) {
		return false
	}
	set := owner.Of(pod)
	wanted, known := t.index.Wanted(set)
	return known && wanted == 1 && !t.index.Hindered(set) && surge.Foreseeable(pod, t.index.made(pod))
}

// made is the owner that makes a pod, as far as it is known.
func (x *Index) made(pod *corev1.Pod) surge.Workload {
	var w surge.Workload
	var known bool
	if w.Set, known = named(x.replicaSets, "ReplicaSet", owner.Of(pod)); !known {
		return w
	}
	w.Deployment, _ = named(x.deployments, "Deployment", owner.Of(w.Set))
	for i := range pod.Spec.Volumes {
		if source := pod.Spec.Volumes[i].PersistentVolumeClaim; source != nil {
			if claim := x.claims[key{namespaceOf(pod), source.ClaimName}]; claim != nil {
				w.Claims = append(w.Claims, claim)
			}
		}
	}
	return w
}
