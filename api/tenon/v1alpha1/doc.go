// Package v1alpha1 is the wire format of tenon.sh/v1alpha1: NodeGroup, which shows a group of instances that
// the cloud keeps at a size. The API is Tenon's own, and not a NodePool, so that tools which know Karpenter's
// API do not take one for the other.
//
// +kubebuilder:object:generate=true
// +groupName=tenon.sh
package v1alpha1
