package v1beta1

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/scalar"
)

// DefaultProvisioningStrategy keeps running nodes free for the buffer.
const DefaultProvisioningStrategy = "buffer.x-k8s.io/active-capacity"

// Conditions of a CapacityBuffer. None of them is computed from the others.
const (
	ConditionReadyForProvisioning = "ReadyForProvisioning"
	ConditionProvisioning         = "Provisioning"
)

// Reasons of ReadyForProvisioning.
const (
	ReasonResolved            = "Resolved"
	ReasonPodTemplateNotFound = "PodTemplateNotFound"
	ReasonScalableRefNotFound = "ScalableRefNotFound"
	ReasonResolutionFailed    = "ResolutionFailed"
)

// Reasons of Provisioning.
const (
	ReasonNotReadyForProvisioning = "NotReadyForProvisioning"
	ReasonBufferEmpty             = "BufferEmpty"
	ReasonRequiresNewCapacity     = "RequiresNewCapacity"
	ReasonFitsExistingCapacity    = "FitsExistingCapacity"
)

// CapacityBuffer asks for room for a number of pods that do not exist yet.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=capacitybuffers,scope=Namespaced,categories=autoscaling,shortName=cb
// +kubebuilder:printcolumn:name="Strategy",type="string",JSONPath=".status.provisioningStrategy",description=""
// +kubebuilder:printcolumn:name="PodTemplate",type="string",JSONPath=".status.podTemplateRef.name",description=""
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas",description=""
// +kubebuilder:printcolumn:name="ConditionsType",type="string",JSONPath=".status.conditions[*].type",description=""
// +kubebuilder:printcolumn:name="ConditionsStatus",type="string",JSONPath=".status.conditions[*].status",description=""
// +kubebuilder:printcolumn:name="ConditionsReason",type="string",JSONPath=".status.conditions[*].reason",description=""
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:subresource:status
type CapacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",message="If podTemplateRef is set, replicas or limits must also be set"
	// +kubebuilder:validation:XValidation:rule="!(has(self.podTemplateRef) && has(self.scalableRef))",message="You must define either PodTemplateRef or ScalableRef, but not both"
	// +required
	Spec   CapacityBufferSpec   `json:"spec"`
	Status CapacityBufferStatus `json:"status,omitempty"`
}

// CapacityBufferSpec says how much room is wanted.
type CapacityBufferSpec struct {
	// ProvisioningStrategy is how the room is kept.
	// +kubebuilder:default:="buffer.x-k8s.io/active-capacity"
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
	// PodTemplateRef names the PodTemplate, in the same namespace, of the pods for which room is wanted.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// ScalableRef names a workload in the same namespace, for whose pods room is wanted.
	// +optional
	ScalableRef *ScalableRef `json:"scalableRef,omitempty"`
	// Replicas is the number of pods for which room is wanted.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// Percentage of the workload's replicas for which room is wanted.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Percentage *int32 `json:"percentage,omitempty"`
	// Limits bound the resources of the buffer.
	// +optional
	Limits Limits `json:"limits,omitempty"`
}

// LocalObjectRef names an object in the same namespace.
type LocalObjectRef struct {
	// Name of the object.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
}

// ScalableRef names a workload in the same namespace.
type ScalableRef struct {
	// APIGroup of the workload.
	// +optional
	APIGroup string `json:"apiGroup,omitempty"`
	// Kind of the workload.
	// +kubebuilder:validation:MinLength=1
	// +required
	Kind string `json:"kind"`
	// Name of the workload.
	// +kubebuilder:validation:MinLength=1
	// +required
	Name string `json:"name"`
}

// CapacityBufferStatus is the result of resolving the buffer's references.
type CapacityBufferStatus struct {
	// PodTemplateRef names the PodTemplate that is used.
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`
	// Replicas is the number of pods for which room is kept.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// PodTemplateGeneration is the generation of the PodTemplate that was read.
	// +optional
	PodTemplateGeneration *int64 `json:"podTemplateGeneration,omitempty"`
	// ProvisioningStrategy is how the room is kept.
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`
	// Conditions say whether the buffer was resolved, and whether there is room.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// SetDefaults fills in the defaults of the API server, for objects that come from a file.
func (b *CapacityBuffer) SetDefaults() {
	if b.Spec.ProvisioningStrategy == nil {
		strategy := DefaultProvisioningStrategy
		b.Spec.ProvisioningStrategy = &strategy
	}
}

// CapacityBufferList is a list of CapacityBuffers.
//
// +kubebuilder:object:root=true
type CapacityBufferList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []CapacityBuffer `json:"items"`
}

// Limits are quantities by resource.
type Limits corev1.ResourceList

// UnmarshalJSON reads limits. A quantity that cannot be read makes this buffer invalid; it must not make
// every list of buffers unreadable.
func (l *Limits) UnmarshalJSON(text []byte) error {
	read, err := scalar.Resources(text)
	if err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	*l = Limits(read)
	return nil
}
