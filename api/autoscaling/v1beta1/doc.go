// Package v1beta1 is the wire format of autoscaling.x-k8s.io/v1beta1: CapacityBuffer, by which a
// user asks for room to be kept free. The API belongs to the Kubernetes autoscaling group; this
// package has only the fields that Tenon needs to serve it.
//
// +kubebuilder:object:generate=true
// +groupName=autoscaling.x-k8s.io
package v1beta1
