// Package v1 is the wire format of karpenter.sh/v1: NodePool and NodeClaim, the names of their
// labels, annotations, taints and finalizers, and the pure functions that read them (defaults,
// validation, budgets, the drift hash).
//
// It must not import core, a client, or a clock: the caller passes the time and the label rules.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1
