package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/sim/store"
)

// promises are the places that pods were nominated to and have not taken yet.
type promises struct {
	by   map[types.UID]promise
	told map[string]bool // claims that some pod was told of
}

// promise belongs to a process: its successor does not know it.
type promise struct{ process, claim string }

// joins is how long a machine may take before nominations to it no longer count.
const joins = 2 * time.Minute

// Promised is called when a process nominates a pod to a claim. No other machine may be bought for a pod
// that has a place on a coming machine.
func (w *Watch) Promised(process string, pod types.UID, claim string) {
	before, known := w.promises.by[pod]
	bought := !w.promises.told[claim]
	w.promises.by[pod], w.promises.told[claim] = promise{process, claim}, true
	if known && bought && before.process == process && before.claim != claim && w.onItsWay(before.claim) {
		w.report(PromisedOnce, "pod %s has a place on %s, which is on its way, and on %s", pod, before.claim, claim)
	}
}

// onItsWay reports whether a claim has a machine that has not joined yet. Once it has joined, other pods
// may take the place before the claim's status names the node.
func (w *Watch) onItsWay(name string) bool {
	claim := store.One[*karpenterv1.NodeClaim](w.Store, types.NamespacedName{Name: name})
	if claim == nil || claim.DeletionTimestamp != nil || claim.Status.NodeName != "" || meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionDisruptionReason) {
		return false
	}
	for _, i := range w.Cloud.Instances() {
		if i.ClaimName == name && (i.State == cloud.Pending || i.State == cloud.Running) {
			return w.Now().Sub(i.Launched) < joins && !w.joined(i.ProviderID)
		}
	}
	return false
}

func (w *Watch) joined(providerID string) bool {
	return slices.ContainsFunc(store.All[*corev1.Node](w.Store), func(n *corev1.Node) bool { return n.Spec.ProviderID == providerID })
}

// keep removes the promises to pods that have their place, or are gone.
func (w *Watch) keep(pod *corev1.Pod, gone bool) {
	if gone || pod.Spec.NodeName != "" {
		delete(w.promises.by, pod.UID)
	}
}
