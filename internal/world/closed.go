package world

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/order"
	"tenon/internal/command"
	"tenon/internal/departure"
)

// Closed returns, as a record names them, the claims that are not being deleted and whose nodes take no pods or that say
// that they are disrupted, and the nodes of groups that take no pods.
func (w *World) Closed() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, name := range order.Keys(w.nodes.claims) {
		claim := w.nodes.claims[name]
		if claim.DeletionTimestamp != nil {
			continue
		}
		node := w.nodes.nodes[claim.Status.NodeName]
		if isClosed(node) || meta.IsStatusConditionTrue(claim.Status.Conditions, karpenterv1.ConditionDisruptionReason) {
			out = append(out, name)
		}
	}
	for _, name := range order.Keys(w.nodes.nodes) {
		if _, alone := command.NodeOf(w.nodes.memberOf(name)); alone && isClosed(w.nodes.nodes[name]) {
			out = append(out, command.MemberOf("", name))
		}
	}
	return out
}

func isClosed(node *corev1.Node) bool {
	return node != nil && node.DeletionTimestamp == nil && departure.Closed(node)
}
