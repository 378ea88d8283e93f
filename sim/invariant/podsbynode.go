package invariant

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/sim/store"
)

// podsOn holds all pods by the name of their node, which is "" for pods without a node. It is updated with
// every change, so that rules need not list all pods to find those of a few nodes.
type podsByNode map[string]map[types.UID]*corev1.Pod

func podsByNodeOf(s *store.Store) podsByNode {
	t := podsByNode{}
	for _, pod := range store.All[*corev1.Pod](s) {
		t.add(pod)
	}
	return t
}

func (t podsByNode) add(pod *corev1.Pod) {
	if t[pod.Spec.NodeName] == nil {
		t[pod.Spec.NodeName] = map[types.UID]*corev1.Pod{}
	}
	t[pod.Spec.NodeName][pod.UID] = pod
}

func (t podsByNode) remove(pod *corev1.Pod) {
	if delete(t[pod.Spec.NodeName], pod.UID); len(t[pod.Spec.NodeName]) == 0 {
		delete(t, pod.Spec.NodeName)
	}
}

// hear handles a change of a pod.
func (t podsByNode) hear(c store.Change) {
	if old, was := c.Old.(*corev1.Pod); was {
		t.remove(old)
	}
	if pod, is := c.New.(*corev1.Pod); is {
		t.add(pod)
	}
}

func byName(a, b *corev1.Pod) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// machinesOf returns the first claim of each provider ID.
func machinesOf(s *store.Store) map[string]*karpenterv1.NodeClaim {
	claims := map[string]*karpenterv1.NodeClaim{}
	for _, claim := range store.All[*karpenterv1.NodeClaim](s) {
		if claims[claim.Status.ProviderID] == nil {
			claims[claim.Status.ProviderID] = claim
		}
	}
	return claims
}

// noteMachine keeps the claims of machines current when a claim changes. Which of several claims has a
// machine depends on all of them, so a claim that comes, goes, or gets another machine makes the next
// look-up rebuild the whole table.
func (w *Watch) noteMachine(old, now *karpenterv1.NodeClaim) {
	if old == nil || now == nil || old.Status.ProviderID != now.Status.ProviderID {
		w.machines = nil
		return
	}
	if id := now.Status.ProviderID; w.machines != nil && w.machines[id] == old {
		w.machines[id] = now
	}
}
