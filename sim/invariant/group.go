package invariant

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"tenon/internal/podpolicy"
	"tenon/sim/store"
)

// The rules about groups of instances.
const (
	GroupBounds = "a group keeps its bounds"
	GroupGrows  = "a group grows by no more than pods wait"
	GroupEnds   = "no instance of a group is ended under pods that may stay"
	GroupRests  = "at rest a group has a node for each instance"
)

// A decision may be carried out so late, while pods come and go, and so many pods may have gone meanwhile.
const (
	fresh = time.Minute
	mayGo = 3
)

// Resized is called when the product has changed the size of a group.
func (w *Watch) Resized(name string, from, to int64) {
	w.Bounded(name)
	if to < from {
		w.Disturbed() // instances that were counted for the minimums do not come
		return
	}
	w.grown[name] = w.Now()
	w.checkTotals("group " + name + " has grown")
	if places := w.placesWanted(); to-from > places+mayGo {
		w.report(GroupGrows, "%s grows from %d to %d for %d pods", name, from, to, places)
	}
}

// placesWanted is how many pods wait, or did a moment ago, or are about to: a decision may buy for those of a node before they are
// evicted.
func (w *Watch) placesWanted() int64 {
	n := int64(0)
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || w.Now().Sub(pod.CreationTimestamp.Time) < fresh || w.goesOrIsGone(pod.Spec.NodeName) || w.claimGoes(pod.Spec.NodeName) {
			n++
		}
	}
	return n
}

// claimGoes reports whether a node goes next, because its claim is being deleted.
func (w *Watch) claimGoes(node string) bool {
	claim := w.claimFor(w.nodeOf(node))
	return claim != nil && claim.DeletionTimestamp != nil
}

// Bounded is called when the product has told the cloud something about a group.
func (w *Watch) Bounded(name string) {
	for _, g := range w.groups() {
		if g.Name == name && (g.Desired < g.Min || g.Desired > g.Max) {
			w.report(GroupBounds, "%s is kept at %d, between %d and %d", name, g.Desired, g.Min, g.Max)
		}
	}
}

// EndingMember is called before the product ends an instance of a group.
func (w *Watch) EndingMember(providerID string) {
	node := w.memberOf(providerID)
	if node == nil {
		return
	}
	for _, pod := range w.podsOn[node.Name] { // one is enough, in any order
		if podpolicy.Active(pod) && podpolicy.Drainable(pod, w.Now()) && pod.DeletionTimestamp == nil {
			w.report(GroupEnds, "%s is ended, under pods such as those of %s", providerID, pod.Namespace)
			return
		}
	}
}

func (w *Watch) memberOf(providerID string) *corev1.Node {
	for _, node := range store.All[*corev1.Node](w.Store) {
		if node.Spec.ProviderID == providerID {
			return node
		}
	}
	return nil
}

func (w *Watch) groupsAtRest() {
	for _, g := range w.groups() {
		nodes := int64(0)
		for i := range g.Instances {
			if node := w.memberOf(g.Instances[i].ProviderID); node != nil && (node.DeletionTimestamp == nil || w.leftNow(node)) {
				nodes++
			}
		}
		if joins := nodes < g.Desired && w.recent(w.grown[g.Name], leaves); nodes != g.Desired && !joins {
			w.report(GroupRests, "%s is kept at %d and has %d nodes", g.Name, g.Desired, nodes)
		}
		w.Bounded(g.Name)
	}
}
