package v1

import (
	"cmp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Classes of ProvisioningRequests that Tenon serves. Requests of other classes belong to other programs.
const (
	// ClassCheckCapacity asks whether there is room now. No node is launched for it.
	ClassCheckCapacity = "check-capacity.autoscaling.x-k8s.io"
	// ClassBestEffortAtomic asks for room for all of its pods or for none, and may launch nodes.
	ClassBestEffortAtomic = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
)

// Conditions of a ProvisioningRequest. None of them is computed from the others.
const (
	ConditionAccepted        = "Accepted"
	ConditionProvisioned     = "Provisioned"
	ConditionFailed          = "Failed"
	ConditionBookingExpired  = "BookingExpired"
	ConditionCapacityRevoked = "CapacityRevoked"
)

// Reasons of these conditions.
const (
	ReasonAccepted                       = "Accepted"
	ReasonCapacityIsFound                = "CapacityIsFound"
	ReasonCapacityIsNotFound             = "CapacityIsNotFound"
	ReasonCapacityIsProvisioned          = "CapacityIsProvisioned"
	ReasonFailedToCreatePods             = "FailedToCreatePods"
	ReasonExpired                        = "Expired"
	ReasonCapacityReservationTimeExpired = "CapacityReservationTimeExpired"
	ReasonCapacityBookingConsumed        = "CapacityBookingConsumed"
)

// Annotations of pods that use the room of a request, and names of parameters.
const (
	AnnotationConsume = Group + "/consume-provisioning-request"
	AnnotationClass   = Group + "/provisioning-class-name"

	// AnnotationConsumeEarlier is the name that AnnotationConsume had before.
	AnnotationConsumeEarlier = "cluster-autoscaler.kubernetes.io/consume-provisioning-request"

	parameterValid    = "ValidUntilSeconds"
	parameterInstance = "processorInstance"
)

// BookingTime is how long room is kept for a request that has got it.
const BookingTime = 10 * time.Minute

// usualValidity is for how long room is looked for unless the request says it.
const usualValidity = 7 * 24 * time.Hour

// ProvisioningRequest asks for room for a number of pods at once.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=provisioningrequests,scope=Namespaced,shortName={provreq,provreqs}
// +kubebuilder:printcolumn:name="Class",type="string",JSONPath=".spec.provisioningClassName",description=""
// +kubebuilder:printcolumn:name="Accepted",type="string",JSONPath=".status.conditions[?(@.type=='Accepted')].status",description=""
// +kubebuilder:printcolumn:name="Provisioned",type="string",JSONPath=".status.conditions[?(@.type=='Provisioned')].status",description=""
// +kubebuilder:printcolumn:name="Failed",type="string",JSONPath=".status.conditions[?(@.type=='Failed')].status",description=""
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:storageversion
// +kubebuilder:subresource:status
type ProvisioningRequest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="Value is immutable"
	// +required
	Spec   ProvisioningRequestSpec   `json:"spec"`
	Status ProvisioningRequestStatus `json:"status,omitempty"`
}

// ProvisioningRequestSpec says for which pods room is wanted.
type ProvisioningRequestSpec struct {
	// PodSets are the pods for which room is wanted, all of them at once.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +listType=atomic
	// +required
	PodSets []PodSet `json:"podSets"`
	// ProvisioningClassName says how the room is found.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +required
	ProvisioningClassName string `json:"provisioningClassName"`
	// Parameters of the class.
	// +kubebuilder:validation:MaxProperties=100
	// +optional
	Parameters map[string]Parameter `json:"parameters,omitempty"`
}

// Parameter is the value of a parameter.
//
// +kubebuilder:validation:MaxLength=255
type Parameter string

// PodSet is a number of like pods.
type PodSet struct {
	// PodTemplateRef names a PodTemplate in the same namespace.
	// +required
	PodTemplateRef Reference `json:"podTemplateRef"`
	// Count is the number of pods.
	// +kubebuilder:validation:Minimum=1
	// +required
	Count int32 `json:"count"`
}

// Reference names an object in the same namespace.
type Reference struct {
	// Name of the object.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	// +required
	Name string `json:"name"`
}

// ProvisioningRequestStatus is what became of a request.
type ProvisioningRequestStatus struct {
	// Conditions say how far the request has come.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ProvisioningClassDetails are facts that the program which serves the class adds.
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	ProvisioningClassDetails map[string]Detail `json:"provisioningClassDetails,omitempty"`
}

// Detail is one fact about a request.
//
// +kubebuilder:validation:MaxLength=32768
type Detail string

// Served reports whether Tenon answers the request. Several instances may share requests of ClassCheckCapacity: each answers
// those whose parameter processorInstance has its name. An instance with a name answers no other class.
func (r *ProvisioningRequest) Served(instance string) bool {
	switch r.Spec.ProvisioningClassName {
	case ClassCheckCapacity:
		return string(r.Spec.Parameters[parameterInstance]) == instance
	case ClassBestEffortAtomic:
		return instance == ""
	}
	return false
}

// Over reports whether no room is looked for or kept any more.
func (r *ProvisioningRequest) Over() bool {
	for _, name := range []string{ConditionFailed, ConditionBookingExpired, ConditionCapacityRevoked} {
		if meta.IsStatusConditionTrue(r.Status.Conditions, name) {
			return true
		}
	}
	return r.DeletionTimestamp != nil
}

// Accepted reports whether all is known that the answer depends on.
func (r *ProvisioningRequest) Accepted() bool {
	return meta.IsStatusConditionTrue(r.Status.Conditions, ConditionAccepted)
}

// Booked returns since when room is kept for the request; false if it has got none.
func (r *ProvisioningRequest) Booked() (time.Time, bool) {
	c := meta.FindStatusCondition(r.Status.Conditions, ConditionProvisioned)
	if c == nil || c.Status != metav1.ConditionTrue {
		return time.Time{}, false
	}
	return c.LastTransitionTime.Time, true
}

// ValidUntil is when the search for room ends.
func (r *ProvisioningRequest) ValidUntil() time.Time {
	validity := usualValidity
	if seconds, err := strconv.Atoi(string(r.Spec.Parameters[parameterValid])); err == nil && seconds > 0 {
		validity = time.Duration(seconds) * time.Second
	}
	return r.CreationTimestamp.Add(validity)
}

// Pods is for how many pods room is wanted.
func (r *ProvisioningRequest) Pods() int {
	n := 0
	for i := range r.Spec.PodSets {
		n += int(r.Spec.PodSets[i].Count)
	}
	return n
}

// Consumes is the name of the request whose room a pod uses, of its namespace; empty for other pods.
func Consumes(pod metav1.Object) string {
	all := pod.GetAnnotations()
	return cmp.Or(all[AnnotationConsume], all[AnnotationConsumeEarlier])
}

// ProvisioningRequestList is a list of ProvisioningRequests.
//
// +kubebuilder:object:root=true
type ProvisioningRequestList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ProvisioningRequest `json:"items"`
}
