// Package v1 is the wire format of karpenter.k8s.aws/v1: EC2NodeClass, the labels that nodes on
// EC2 have, and the pure functions that read them (defaults, tag rules, the drift hash).
//
// It must not import core, a client, an SDK, or a clock.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.k8s.aws
package v1
