package counter

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/internal/command"
)

// claimAndNode is a claim of the pool with its node, nil until there is one.
type claimAndNode struct {
	claim *karpenterv1.NodeClaim
	node  *corev1.Node
}

// always are the resources that a pool's status has even when it has no node.
var always = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage, karpenterv1.ResourceNodes}

// write puts the sum over the members into a status. An unchanged amount keeps its spelling, so that a
// count without a change writes nothing.
func write(status *karpenterv1.NodePoolStatus, members []claimAndNode) {
	total, nodes := sum(members)
	for name, q := range total {
		if old, has := status.Resources[name]; has && old.Cmp(q) == 0 {
			total[name] = old
		}
	}
	status.Resources, status.Nodes = total, &nodes
}

func sum(members []claimAndNode) (corev1.ResourceList, int64) {
	total, nodes := corev1.ResourceList{}, int64(0)
	for _, name := range always {
		total[name] = resource.Quantity{}
	}
	for _, m := range members {
		if !m.counts() {
			continue
		}
		nodes++
		for name, q := range m.capacity() {
			have := total[name]
			have.Add(q)
			total[name] = have
		}
	}
	total[karpenterv1.ResourceNodes] = *resource.NewQuantity(nodes, resource.DecimalSI)
	return total, nodes
}

// counts tells members that have a machine and will keep it.
func (m claimAndNode) counts() bool { return m.claim.Status.ProviderID != "" && !m.leaving() }

// leaving tells members that are on their way out: deleted, chosen for disruption, or with
// an instance that ends.
func (m claimAndNode) leaving() bool {
	return m.claim.DeletionTimestamp != nil || m.node != nil && m.node.DeletionTimestamp != nil ||
		meta.IsStatusConditionTrue(m.claim.Status.Conditions, karpenterv1.ConditionInstanceTerminating) || command.Removes(m.claim)
}

// capacity is the node's. Until the node is initialized, what it does not report yet is
// what the claim promises.
func (m claimAndNode) capacity() corev1.ResourceList {
	if m.node == nil {
		return m.claim.Status.Capacity
	}
	if m.node.Labels[karpenterv1.LabelInitialized] == "true" {
		return m.node.Status.Capacity
	}
	out := m.claim.Status.Capacity.DeepCopy()
	if out == nil {
		out = corev1.ResourceList{}
	}
	for name, q := range m.node.Status.Capacity {
		if !q.IsZero() {
			out[name] = q
		}
	}
	return out
}

// claimMatters: whether a claim counts may have changed, or with what.
func claimMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return true
	}
	a, b := claimAndNode{claim: old.(*karpenterv1.NodeClaim)}, claimAndNode{claim: changed.(*karpenterv1.NodeClaim)}
	return a.counts() != b.counts() || !equality.Semantic.DeepEqual(a.claim.Status.Capacity, b.claim.Status.Capacity)
}

// nodeMatters: heartbeats do not.
func nodeMatters(old, changed client.Object) bool {
	if old == nil || changed == nil {
		return true
	}
	a, b := old.(*corev1.Node), changed.(*corev1.Node)
	return (a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil) ||
		a.Labels[karpenterv1.LabelInitialized] != b.Labels[karpenterv1.LabelInitialized] ||
		a.Labels[karpenterv1.LabelNodePool] != b.Labels[karpenterv1.LabelNodePool] ||
		!equality.Semantic.DeepEqual(a.Status.Capacity, b.Status.Capacity)
}
