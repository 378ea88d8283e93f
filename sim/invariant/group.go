package invariant

import (
	"slices"
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

// fresh is how late a decision may be carried out. Pods that have come, gone or got a node since may be those for which it was made.
const fresh = time.Minute

// growth is by how much the product has changed the size of a group.
type growth struct {
	at time.Time
	by int64
}

// Resized is called when the product has changed the size of a group.
func (w *Watch) Resized(name string, from, to int64) {
	w.Bounded(name)
	lately := slices.DeleteFunc(w.growths[name], func(g growth) bool { return w.Now().Sub(g.at) >= fresh })
	lately = append(lately, growth{w.Now(), to - from})
	w.growths[name] = lately
	if to < from {
		w.Disturbed() // instances that were counted for the minimums do not come
		return
	}
	w.grown[name] = w.Now()
	w.checkTotals("group " + name + " has grown")
	sum := int64(0)
	for _, g := range lately {
		sum += g.by
	}
	if places := w.placesWanted(); sum > places && !w.recent(w.disturbed, fresh) {
		w.report(GroupGrows, "%s grows from %d to %d, by %d within a minute, for %d pods", name, from, to, sum, places)
	}
}

// placesWanted is how many pods wait, or did a moment ago, or are about to: a decision may buy for those of a node before they are
// evicted, for those that ReplicaSets have yet to make, and for the room of buffers.
func (w *Watch) placesWanted() int64 {
	n := int64(0)
	for uid, at := range w.settling {
		if w.Now().Sub(at) >= fresh {
			delete(w.settling, uid)
		} else {
			n++
		}
	}
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		if _, counted := w.settling[pod.UID]; counted {
			continue
		}
		if pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || w.Now().Sub(pod.CreationTimestamp.Time) < fresh || w.goesOrIsGone(pod.Spec.NodeName) || w.claimGoes(pod.Spec.NodeName) {
			n++
		}
	}
	for _, missing := range w.unmade() {
		n += int64(missing)
	}
	return n + int64(len(w.virtual()))
}

// noteSettling handles pods that get a node, or go.
func (w *Watch) noteSettling(c store.Change) {
	old, _ := c.Old.(*corev1.Pod)
	pod, _ := c.New.(*corev1.Pod)
	if old != nil && (pod == nil || pod.Spec.NodeName != old.Spec.NodeName) {
		w.settling[old.UID] = w.Now()
	}
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
	if node == nil { // the pods that waited for it may need another
		w.Stir()
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
