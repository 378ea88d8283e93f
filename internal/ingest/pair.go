package ingest

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Pairs finds the claim of a node: by provider ID or, if the claim has none, by the node name in its status or by the owner that was
// written on the node when it registered: the watch of claims may be slower than that of nodes, and the claim's machine would count
// beside its own node.
type Pairs struct {
	byProvider, byNode map[string]*karpenterv1.NodeClaim
	byOwner            map[types.UID]*karpenterv1.NodeClaim // without a provider ID
	nodes              func(name string) *corev1.Node
}

// Pair indexes claims. nodes finds a node by its name, or nil.
func Pair(claims []*karpenterv1.NodeClaim, nodes func(name string) *corev1.Node) Pairs {
	p := Pairs{make(map[string]*karpenterv1.NodeClaim, len(claims)), make(map[string]*karpenterv1.NodeClaim, len(claims)), map[types.UID]*karpenterv1.NodeClaim{}, nodes}
	for _, claim := range claims {
		if claim.Status.ProviderID != "" {
			p.byProvider[claim.Status.ProviderID] = claim
		} else {
			p.byOwner[claim.UID] = claim
		}
		if claim.Status.NodeName != "" {
			p.byNode[claim.Status.NodeName] = claim
		}
	}
	return p
}

// Of is the claim of a node, or nil. A kubelet may write the provider ID of another node as its own: as long as
// the node that registered exists, the claim belongs to no other.
func (p Pairs) Of(node *corev1.Node) *karpenterv1.NodeClaim {
	if node.Spec.ProviderID != "" {
		if claim, ok := p.byProvider[node.Spec.ProviderID]; ok {
			if p.registeredElsewhere(claim, node) {
				return nil
			}
			return claim
		}
	}
	claim := p.byNode[node.Name]
	if claim == nil {
		return p.owner(node)
	}
	if claim.Status.ProviderID != "" && node.Spec.ProviderID != "" {
		return nil // they are two different machines
	}
	return claim
}

func (p Pairs) owner(node *corev1.Node) *karpenterv1.NodeClaim {
	for i := range node.OwnerReferences {
		ref := &node.OwnerReferences[i]
		if claim := p.byOwner[ref.UID]; claim != nil && ref.Kind == "NodeClaim" && ref.Name == claim.Name {
			return claim
		}
	}
	return nil
}

func (p Pairs) registeredElsewhere(claim *karpenterv1.NodeClaim, node *corev1.Node) bool {
	if claim.Status.NodeName == "" || claim.Status.NodeName == node.Name {
		return false
	}
	first := p.nodes(claim.Status.NodeName)
	return first != nil && first.Spec.ProviderID == node.Spec.ProviderID
}

// PoolOf is the pool that a node belongs to, first of all by its claim; a node of a group belongs to the pool that stands
// for the group.
func PoolOf(node *corev1.Node, claim *karpenterv1.NodeClaim) string {
	if claim != nil {
		return claim.Labels[karpenterv1.LabelNodePool]
	}
	return cmp.Or(node.Labels[karpenterv1.LabelNodePool], memberOf(node, nil))
}
