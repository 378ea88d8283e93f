package v1

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	"tenon/api/scalar"
)

// NodeClaim asks for one node, and follows it from launch to termination.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeclaims,scope=Cluster,categories=karpenter
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".metadata.labels.node\\.kubernetes\\.io/instance-type",description=""
// +kubebuilder:printcolumn:name="Capacity",type="string",JSONPath=".metadata.labels.karpenter\\.sh/capacity-type",description=""
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".metadata.labels.topology\\.kubernetes\\.io/zone",description=""
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName",description=""
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="ImageID",type="string",JSONPath=".status.imageID",priority=1,description=""
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.providerID",priority=1,description=""
// +kubebuilder:printcolumn:name="NodePool",type="string",JSONPath=".metadata.labels.karpenter\\.sh/nodepool",priority=1,description=""
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.nodeClassRef.name",priority=1,description=""
// +kubebuilder:printcolumn:name="Drifted",type="string",JSONPath=".status.conditions[?(@.type==\"Drifted\")].status",priority=1,description=""
// +kubebuilder:printcolumn:name="Price",type="string",JSONPath=".metadata.annotations.tenon\\.sh/price",priority=1,description=""
// +kubebuilder:printcolumn:name="Why",type="string",JSONPath=".status.conditions[?(@.type==\"Disruptable\")].message",priority=1,description=""
// +kubebuilder:subresource:status
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable"
	// +required
	Spec   NodeClaimSpec   `json:"spec"`
	Status NodeClaimStatus `json:"status,omitempty"`
}

// NodeClaimSpec is what the node must be like.
type NodeClaimSpec struct {
	// Taints keep away pods that do not tolerate them.
	// +listType=atomic
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// StartupTaints are taken off by another program while the node starts.
	// +listType=atomic
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Requirements say which labels the node may have, and so which instances may be bought.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && x.values.size() != 0 : true)",message="requirements with operator 'In' must have a value defined"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? (has(x.values) && x.values.size() == 1 && int(x.values[0]) >= 0) : true)",message="requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, (x.operator == 'In' && has(x.minValues)) ? has(x.values) && x.values.size() >= x.minValues : true)",message="requirements with 'minValues' must have at least that many values specified in the 'values' field"
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +required
	Requirements []Requirement `json:"requirements"`
	// Resources that the node must have at least.
	// +optional
	Resources ResourceRequirements `json:"resources,omitempty"`
	// NodeClassRef names the cloud's own settings for this node.
	// +required
	NodeClassRef *NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod is how long the node may drain before its pods are deleted in spite of every hold.
	// +kubebuilder:validation:Pattern=`^([0-9]+(s|m|h))+$`
	// +kubebuilder:validation:Type=string
	// +optional
	TerminationGracePeriod *scalar.Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is the age at which the node is replaced, or Never.
	// +kubebuilder:default:="720h"
	// +kubebuilder:validation:Pattern=`^(([0-9]+(s|m|h))+|Never)$`
	// +kubebuilder:validation:Type=string
	// +optional
	ExpireAfter NillableDuration `json:"expireAfter,omitempty"`
}

// ResourceRequirements are the resources that a claim's pods request.
type ResourceRequirements struct {
	// Requests of the pods and daemons for which the claim was made.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// UnmarshalJSON reads requests. A claim with a quantity that cannot be read is not launched; it must not
// make every list of claims unreadable.
func (r *ResourceRequirements) UnmarshalJSON(text []byte) error {
	var raw struct {
		Requests json.RawMessage `json:"requests"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return err
	}
	r.Requests = nil
	if raw.Requests == nil {
		return nil
	}
	read, err := scalar.Resources(raw.Requests)
	if err != nil {
		return fmt.Errorf("requests: %w", err)
	}
	r.Requests = read
	return nil
}

// NodeClaimStatus is what became of the claim.
type NodeClaimStatus struct {
	// NodeName is the name of the node that joined.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// ProviderID is the cloud's name of the instance.
	// +optional
	ProviderID string `json:"providerID,omitempty"`
	// ImageID is the machine image of the instance.
	// +optional
	ImageID string `json:"imageID,omitempty"`
	// Capacity is what the instance has, as far as is known before the node reports it.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Allocatable is what pods can use of the capacity.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// Conditions say how far the claim has come.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// LastPodEventTime is when a pod last came to the node or left it.
	// +optional
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
}

// Conditions of a NodeClaim. The first three make it ready; the others inform.
const (
	ConditionLaunched             = "Launched"
	ConditionRegistered           = "Registered"
	ConditionInitialized          = "Initialized"
	ConditionConsolidatable       = "Consolidatable"
	ConditionDrifted              = "Drifted"
	ConditionDrained              = "Drained"
	ConditionVolumesDetached      = "VolumesDetached"
	ConditionInstanceTerminating  = "InstanceTerminating"
	ConditionConsistentStateFound = "ConsistentStateFound"
	ConditionDisruptionReason     = "DisruptionReason"
	// ConditionDisruptable is Tenon's own: what disruption would do with the node, or what keeps it.
	ConditionDisruptable = "Disruptable"
)

// NodeClaimConditions says when a claim is ready.
func NodeClaimConditions() condition.Kind {
	return condition.Kind{
		Root:       condition.Ready,
		Dependents: []string{ConditionLaunched, ConditionRegistered, ConditionInitialized},
	}
}

// Conditions reads the claim's conditions at a time. The result goes back into status.conditions.
func (c *NodeClaim) Conditions(now time.Time) condition.Set {
	return NodeClaimConditions().Read(c.Status.Conditions, condition.SubjectOf(c), now)
}

// NodeClaimList is a list of NodeClaims.
//
// +kubebuilder:object:root=true
type NodeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeClaim `json:"items"`
}
