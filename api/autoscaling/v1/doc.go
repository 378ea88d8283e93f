// Package v1 is the wire format of autoscaling.x-k8s.io/v1: ProvisioningRequest, by which a user asks for room
// for a number of pods at once. The API belongs to the Kubernetes autoscaling group; this package has only the
// fields that Tenon needs to serve it.
//
// +kubebuilder:object:generate=true
// +groupName=autoscaling.x-k8s.io
package v1
