// Package v1alpha1 is the wire format of karpenter.sh/v1alpha1: NodeOverlay, which corrects what
// the cloud says about prices and capacities. It must not import core, a client, or a clock.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1alpha1
