package v1alpha1

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	"tenon/api/scalar"
)

// NodeOverlay corrects the price or the capacity of the instance types that it matches, for
// example for a discount that the cloud's price list does not show.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeoverlays,scope=Cluster,categories=karpenter,shortName=overlays
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1,description=""
// +kubebuilder:subresource:status
type NodeOverlay struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="!has(self.price) || !has(self.priceAdjustment)",message="cannot set both 'price' and 'priceAdjustment'"
	// +required
	Spec   NodeOverlaySpec   `json:"spec"`
	Status NodeOverlayStatus `json:"status,omitempty"`
}

// Amounts are quantities by resource.
type Amounts corev1.ResourceList

// UnmarshalJSON reads amounts. A quantity that cannot be read makes this overlay invalid; it must not make
// every list of overlays unreadable.
func (a *Amounts) UnmarshalJSON(text []byte) error {
	read, err := scalar.Resources(text)
	if err != nil {
		return fmt.Errorf("capacity: %w", err)
	}
	*a = Amounts(read)
	return nil
}

// NodeOverlaySpec says which instance types are meant, and what is different about them.
type NodeOverlaySpec struct {
	// Requirements say which pools, instance types and offerings the overlay is about.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'NotIn' ? has(x.values) && x.values.size() != 0 : true)",message="requirements with operator 'NotIn' must have a value defined"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && x.values.size() != 0 : true)",message="requirements with operator 'In' must have a value defined"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? (has(x.values) && x.values.size() == 1 && int(x.values[0]) >= 0) : true)",message="requirements operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single positive integer value"
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +required
	Requirements []Requirement `json:"requirements"`
	// PriceAdjustment changes the price by a signed amount or percentage, for example -10%.
	// +kubebuilder:validation:Pattern=`^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$`
	// +optional
	PriceAdjustment *string `json:"priceAdjustment,omitempty"`
	// Price replaces the price, in the currency of the price list, per hour.
	// +kubebuilder:validation:Pattern=`^\d+(\.\d+)?$`
	// +optional
	Price *string `json:"price,omitempty"`
	// Capacity adds resources that nodes will report but the cloud does not know of.
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(x in ['cpu', 'memory', 'ephemeral-storage', 'pods']))",message="invalid resource restricted"
	// +optional
	Capacity Amounts `json:"capacity,omitempty"`
	// Weight ranks the overlay: of several about the same offering the heaviest counts. Absent is 0.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}

// Requirement says which values a label may have.
type Requirement struct {
	// Key is the label's key.
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	// +kubebuilder:validation:XValidation:rule="self in [\"karpenter.sh/capacity-type\", \"karpenter.sh/nodepool\"] || !self.find(\"^([^/]+)\").endsWith(\"karpenter.sh\")",message="label domain \"karpenter.sh\" is restricted"
	// +kubebuilder:validation:XValidation:rule="self != \"kubernetes.io/hostname\"",message="label \"kubernetes.io/hostname\" is restricted"
	// +required
	Key string `json:"key"`
	// Operator says how the values are meant. Gt, Lt, Gte and Lte compare integers.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt;Gte;Lte
	// +required
	Operator corev1.NodeSelectorOperator `json:"operator"`
	// Values is not empty for In and NotIn, has exactly one integer for Gt, Lt, Gte and Lte, and is
	// empty for Exists and DoesNotExist.
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
}

// NodeOverlayStatus says whether the overlay is in use.
type NodeOverlayStatus struct {
	// Conditions say whether the overlay is valid and in conflict with no other.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ConditionValidationSucceeded is the condition on which an overlay's readiness depends.
const ConditionValidationSucceeded = "ValidationSucceeded"

// NodeOverlayConditions says when an overlay is ready.
func NodeOverlayConditions() condition.Kind {
	return condition.Kind{Root: condition.Ready, Dependents: []string{ConditionValidationSucceeded}}
}

// Conditions reads the overlay's conditions at a time. The result goes back into status.conditions.
func (o *NodeOverlay) Conditions(now time.Time) condition.Set {
	return NodeOverlayConditions().Read(o.Status.Conditions, condition.SubjectOf(o), now)
}

// NodeOverlayList is a list of NodeOverlays.
//
// +kubebuilder:object:root=true
type NodeOverlayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeOverlay `json:"items"`
}
