package ingest

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"tenon/core/model"
)

// Receives reports whether a node has no mark that it is passed over while pods move.
func Receives(node *corev1.Node) bool {
	return !slices.ContainsFunc(node.Spec.Taints, isNotReceiving)
}

// SetReceives removes or adds the mark.
func SetReceives(node *corev1.Node, receives bool) {
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isNotReceiving)
	if !receives {
		t := model.NotReceiving()
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: t.Key, Effect: corev1.TaintEffect(t.Effect)})
	}
}

func isNotReceiving(t corev1.Taint) bool { return t.Key == model.KeyNotReceiving }
