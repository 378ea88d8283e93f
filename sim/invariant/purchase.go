package invariant

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/sim/store"
)

// changing is how long after a change of its limits a pool may still be above them.
const changing = 5 * time.Minute

// remember notes when a pool was changed.
func (w *Watch) remember(c store.Change) {
	pool := c.Object().(*karpenterv1.NodePool)
	if c.Old != nil && (c.New == nil || c.Old.GetGeneration() != c.New.GetGeneration()) {
		w.edited[pool.Name] = w.Now()
	}
	text := fmt.Sprint(pool.Spec.Limits)
	if w.limits[pool.Name] != text && c.Old != nil {
		w.limited[pool.Name] = w.Now()
	}
	w.limits[pool.Name] = text
}

// Launched is called for every machine when it is bought.
func (w *Watch) Launched(m memory.Machine) {
	i := m.Instance
	if other, twice := w.bought[i.ClaimName]; twice && other != i.ProviderID {
		w.report(BoughtOnce, "claim %s has %s and %s", i.ClaimName, other, i.ProviderID)
	}
	w.bought[i.ClaimName] = i.ProviderID
	if w.settled() {
		w.late.Bought++
	}
	if w.Price != nil {
		w.prices[i.ClaimName] = w.Price(i.Offer)
	}
	if w.claimOf(i) == nil {
		w.report(IntentFirst, "%s was bought for claim %s, which does not exist", i.ProviderID, i.ClaimName)
	}
	w.judgeMachine(i.ClaimName)
	w.checkLimits(i.Pool)
	w.checkTotals(i.ProviderID + " was bought")
}

// claimOf returns the claim for which a machine was bought, if it exists.
func (w *Watch) claimOf(i cloud.Instance) *karpenterv1.NodeClaim {
	return w.claimNamed(i.ClaimName)
}

func (w *Watch) pool(name string) *karpenterv1.NodePool {
	return store.One[*karpenterv1.NodePool](w.Store, types.NamespacedName{Name: name})
}

// checkLimits adds up the purchases of a pool. Two processes that decide at once do not know each other's
// claims.
func (w *Watch) checkLimits(name string) {
	pool := w.pool(name)
	if pool == nil || len(pool.Spec.Limits) == 0 || w.recent(w.limited[name], changing) || w.recent(w.crowd, changing) {
		return
	}
	var cpu, memoryBytes, nodes int64
	for _, i := range w.Cloud.Instances() {
		if i.Pool == name && i.State != cloud.Terminating && !w.leaving(i) {
			cpu += i.Capacity.CPU
			memoryBytes += i.Capacity.Memory
			nodes++
		}
	}
	if limit, has := pool.Spec.Limits[corev1.ResourceCPU]; has && cpu > limit.MilliValue() {
		w.report(Limits, "pool %s has %dm of CPU, and may have %s", name, cpu, limit.String())
	}
	if limit, has := pool.Spec.Limits[corev1.ResourceMemory]; has && memoryBytes > limit.Value() {
		w.report(Limits, "pool %s has %d bytes, and may have %s", name, memoryBytes, limit.String())
	}
	if limit, has := pool.Spec.Limits["nodes"]; has && nodes > limit.Value() {
		w.report(Limits, "pool %s has %d nodes, and may have %s", name, nodes, limit.String())
	}
}

// leaving reports whether an instance's claim or node is being deleted, or both are gone: limits no longer
// count it, so that its replacement can be bought. Garbage collection removes an instance without a claim.
func (w *Watch) leaving(i cloud.Instance) bool {
	claim := w.claimOf(i)
	if claim == nil { // a user has pulled its finalizer: the node may be in use nevertheless
		return !slices.ContainsFunc(store.All[*corev1.Node](w.Store), func(n *corev1.Node) bool {
			return n.Spec.ProviderID == i.ProviderID && n.DeletionTimestamp == nil
		})
	}
	node := w.nodeOf(claim.Status.NodeName)
	return claim.DeletionTimestamp != nil || node != nil && node.DeletionTimestamp != nil
}

// want records when a pod last needed a place.
func (w *Watch) want(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" && !finished(pod) && pod.Annotations[Infeasible] == "" || w.goes(pod.Spec.NodeName) {
		w.wanting[pod.UID] = wantedPod{w.Now(), pod}
	}
}

// wantNow records which pods need a place now: a pod also begins to need one when its node is removed,
// without a change of the pod.
func (w *Watch) wantNow() {
	for node, pods := range w.podsOn { // each pod is on its own: the order does not matter
		if node != "" && !w.goes(node) {
			continue
		}
		for _, pod := range pods { // as above
			w.want(pod)
		}
	}
	for _, pod := range w.virtual() {
		w.want(pod)
	}
}

// goes reports whether a node is gone, it or its claim is being deleted, or a disruption takes it: its pods
// need other places.
func (w *Watch) goes(node string) bool {
	if node == "" {
		return false
	}
	n := w.nodeOf(node)
	if n == nil || n.DeletionTimestamp != nil {
		return true
	}
	claim := w.claimFor(n)
	if claim == nil { // a node of a group carries the command itself
		return taking(n) != nil
	}
	r := commandOf(claim)
	return claim.DeletionTimestamp != nil || r != nil && r.Takes(claim.Name) || meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionDisruptionReason)
}

// Times of purchases that are compared with pods. A machine may be bought a little before its pod exists,
// because a workload has announced the pod.
const (
	announced = time.Minute
	crowded   = 30 * time.Minute
)

// lookAtPurchases compares the machines that no pod uses yet with the pods that have needed a place since
// the first of them was bought. Each machine was bought for at least one pod, and no pod has places on two
// of them. Two processes that decided at once may both have bought.
func (w *Watch) lookAtPurchases(instances []cloud.Instance) {
	now := w.Now()
	w.wantNow()
	if !w.crowd.IsZero() && now.Sub(w.crowd) < crowded {
		return
	}
	coming, planned, first := 0, 0, now
	for _, i := range instances {
		if now.Sub(i.Launched) >= announced && i.State != cloud.Terminating && w.comes(i) {
			coming++
			planned += w.plannedOn(i)
			if i.Launched.Before(first) {
				first = i.Launched
			}
		}
	}
	wanted := 0
	for uid, wish := range w.wanting { // counting alone: the order does not matter
		switch last := wish.at; {
		case !last.Before(first.Add(-announced)):
			wanted++
		case now.Sub(last) > crowded:
			delete(w.wanting, uid)
		}
	}
	if coming > wanted {
		w.report(BoughtForPods, "%d machines, the first of which was bought at %s, and %d pods", coming, first.UTC().Format(time.TimeOnly), wanted)
	}
	if planned > foreseen*wanted+foreseen {
		w.report(BoughtInVain, "machines for %d pods, the first of which was bought at %s, and %d pods", planned, first.UTC().Format(time.TimeOnly), wanted)
	}
}

// foreseen is the number of pods for which machines may be bought for each existing pod: Tenon learns only
// after a while that no further pods come.
const foreseen = 5

// plannedOn returns for how many pods a machine was bought, without the one daemon pod.
func (w *Watch) plannedOn(i cloud.Instance) int {
	pods := w.claimOf(i).Spec.Resources.Requests[corev1.ResourcePods]
	return max(int(pods.Value())-1, 0)
}

// comes reports whether a machine was bought for pods and does not run them yet.
func (w *Watch) comes(i cloud.Instance) bool {
	claim := w.claimOf(i)
	if claim == nil || claim.DeletionTimestamp != nil || meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionInitialized) {
		return false
	}
	pool := w.pool(i.Pool)
	return pool != nil && pool.Spec.Replicas == nil
}

// recent reports whether a time is a short while ago; the zero time never is.
func (w *Watch) recent(at time.Time, d time.Duration) bool {
	return !at.IsZero() && w.Now().Sub(at) < d
}
