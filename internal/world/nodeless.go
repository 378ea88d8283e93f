package world

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
)

// nodeRemoved notes that the node of a claim in use went before its claim did, because a user removed its
// finalizer. A machine joins only once, so no pod will ever run there, and the claim no longer stands for
// a future node. This applies only to a node whose deletion was seen: in caches that have just been
// filled, a claim may be ahead of its node.
func (r *nodeState) nodeRemoved(node *corev1.Node) {
	name := r.bought[node.Spec.ProviderID]
	if claim := r.claims[name]; claim != nil && claim.DeletionTimestamp == nil && meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionRegistered) {
		r.nodeless[name] = true
	}
}

// nodeReturned undoes nodeRemoved: the claim has a node again.
func (r *nodeState) nodeReturned(node *corev1.Node) {
	delete(r.nodeless, r.bought[node.Spec.ProviderID])
}

// translate makes a node of the snapshot from a node, a claim or both.
func (r *nodeState) translate(t *ingest.Translator, node *corev1.Node, claim *karpenterv1.NodeClaim, prices ingest.Prices) (snapshot.Node, bool) {
	value, ok := t.Node(node, claim, prices)
	if node == nil && claim != nil && r.nodeless[claim.Name] {
		value.Leaving, value.Life.Awaits = true, true // its machine still counts
	}
	return value, ok
}
