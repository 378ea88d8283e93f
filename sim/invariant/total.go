package invariant

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/internal/ingest"
	"tenon/sim/store"
)

// The rules about limits on all nodes.
const (
	ClusterLimits = "limits of the cluster are never exceeded"
	ClusterFloors = "no node of a group in mode cas goes below a minimum of the cluster"
)

// Totals are the limits and minimums of all nodes together, and what counts for them beside the machines of pools.
type Totals struct {
	Limits, Floors []model.Amount
	// Groups returns the groups of instances. Nil means none.
	Groups func() []cloud.Group
}

// Disturbed says that the size of a group was changed, and not by the product: limits may be exceeded for a while.
func (w *Watch) Disturbed() { w.disturbed = w.Now() }

// checkTotals compares all nodes with the limits. Tenon learns of sizes that others change within a minute, and two processes that
// decide at once do not know each other's claims.
func (w *Watch) checkTotals(after string) {
	if w.recent(w.disturbed, changing) || w.recent(w.crowd, changing) {
		return
	}
	for _, limit := range w.Totals.Limits {
		if has := w.sum(limit.Name); has > limit.Value {
			w.report(ClusterLimits, "%s, the cluster has %d of %s, and may have %d", after, has, limit.Name, limit.Value)
		}
	}
}

// sum is how much of a resource all nodes have, with those on their way and without those that leave.
func (w *Watch) sum(name string) int64 {
	sum := int64(0)
	for _, i := range w.Cloud.Instances() {
		if i.State != cloud.Terminating && !w.leaving(i) {
			sum += amountOf(i.Capacity, name)
		}
	}
	for _, g := range w.groups() {
		sum += (g.Desired - w.leavingMembers(&g)) * amountOf(g.Next.Capacity, name)
	}
	return sum
}

func amountOf(has model.Resources, name string) int64 {
	if name == model.Nodes {
		return 1
	}
	return has.Get(name)
}

func (w *Watch) groups() []cloud.Group {
	if w.Totals.Groups == nil {
		return nil
	}
	return w.Totals.Groups()
}

// leavingMembers is how many instances of a group belong to nodes that are being deleted.
func (w *Watch) leavingMembers(g *cloud.Group) int64 {
	n := int64(0)
	for _, node := range store.All[*corev1.Node](w.Store) {
		if node.DeletionTimestamp != nil && g.Find(node.Spec.ProviderID) != nil {
			n++
		}
	}
	return n
}

// noteLeaver looks at what begins to leave, or has gone without having left before: a node of a group in mode cas must leave the minimums, unless
// something else has left a moment ago, of which the decision did not know.
func (w *Watch) noteLeaver(c store.Change) {
	if len(w.Totals.Floors) == 0 || c.Old == nil || c.Old.GetDeletionTimestamp() != nil || c.New != nil && c.New.GetDeletionTimestamp() == nil {
		return
	}
	switch object := c.Object().(type) {
	case *karpenterv1.NodeClaim:
		w.fell = w.Now()
	case *corev1.Node:
		if w.ofModeCAS(object) && taking(object) != nil {
			w.checkFloors(object.Name)
		} else {
			w.fell = w.Now()
		}
	}
}

// ofModeCAS reports whether a node belongs to a group in mode cas.
func (w *Watch) ofModeCAS(node *corev1.Node) bool {
	return slices.ContainsFunc(w.groups(), func(g cloud.Group) bool {
		return g.Find(node.Spec.ProviderID) != nil && slices.ContainsFunc(store.All[*tenonv1alpha1.NodeGroup](w.Store), func(o *tenonv1alpha1.NodeGroup) bool {
			return o.Spec.GroupName == g.Name && o.Spec.Mode == tenonv1alpha1.ModeCAS
		})
	})
}

func (w *Watch) checkFloors(leaver string) {
	w.noteFall()
	if w.recent(w.fell, changing) || w.recent(w.disturbed, changing) || w.recent(w.crowd, changing) {
		return
	}
	for _, floor := range w.Totals.Floors {
		if has := w.sum(floor.Name); has < floor.Value {
			w.report(ClusterFloors, "without %s the cluster has %d of %s, and keeps %d", leaver, has, floor.Name, floor.Value)
		}
	}
}

// noteFall notices machines of pools that have ended by themselves, or were taken by the cloud.
func (w *Watch) noteFall() {
	n := 0
	for _, i := range w.Cloud.Instances() {
		if i.State != cloud.Terminating {
			n++
		}
	}
	if n < w.machinesBefore {
		w.fell = w.Now()
	}
	w.machinesBefore = n
}

// totalsReached reports whether a limit of the cluster leaves less than the machine for a pod may need, also without some machines.
func (w *Watch) totalsReached(pod *corev1.Pod, without ...cloud.Instance) bool {
	return slices.ContainsFunc(w.Totals.Limits, func(limit model.Amount) bool {
		needs := int64(1)
		switch cores := mostNeeded(pod); limit.Name {
		case model.CPU:
			needs = cores
		case model.Memory:
			needs = cores * memoryPerCore / 1000
		}
		left := limit.Value - w.sum(limit.Name)
		for _, claim := range slices.Concat(w.outlived(), w.leavingNow()) {
			left -= amountOf(ingest.Resources(claim.Status.Capacity), limit.Name)
		}
		for _, i := range without {
			left += amountOf(i.Capacity, limit.Name)
		}
		return left < needs
	})
}

// leavingNow returns the claims with a machine that began to go only now: nothing could be bought instead before.
func (w *Watch) leavingNow() []*karpenterv1.NodeClaim {
	return slices.DeleteFunc(store.All[*karpenterv1.NodeClaim](w.Store), func(claim *karpenterv1.NodeClaim) bool {
		return claim.Status.ProviderID == "" || !w.leftNow(claim)
	})
}

// outlived returns the claims in use whose machines have ended. The product counts them for limits until it notices that, for which
// NoStrayClaim gives it some minutes.
func (w *Watch) outlived() []*karpenterv1.NodeClaim {
	lives := map[string]bool{}
	for _, i := range w.Cloud.Instances() {
		lives[i.ProviderID] = i.State != cloud.Terminating
	}
	return slices.DeleteFunc(store.All[*karpenterv1.NodeClaim](w.Store), func(claim *karpenterv1.NodeClaim) bool {
		return claim.DeletionTimestamp != nil || claim.Status.ProviderID == "" || lives[claim.Status.ProviderID]
	})
}

// memoryPerCore is how much memory the machine for a pod may have for each core.
const memoryPerCore = 8 << 30

// totals are what a watch knows of all nodes together.
type totals struct {
	disturbed      time.Time // when others last changed the size of a group
	fell           time.Time // when something last left that does not look at minimums
	machinesBefore int
	grown          map[string]time.Time    // when the product last raised the size of a group
	growths        map[string][]growth     // by group, within a minute
	settling       map[types.UID]time.Time // when pods got a node, or went
}
