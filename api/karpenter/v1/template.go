package v1

import (
	corev1 "k8s.io/api/core/v1"

	"tenon/api/scalar"
)

// NodeClaimTemplate is what a pool says about every node that it makes. The names and the order
// of the fields of the template's types take part in the drift hash and must not change.
type NodeClaimTemplate struct {
	ObjectMeta `json:"metadata,omitempty"`
	// Spec of the claims that are made from this template.
	// +required
	Spec NodeClaimTemplateSpec `json:"spec"`
}

// ObjectMeta is the part of the metadata that a pool gives to its claims and nodes.
type ObjectMeta struct {
	// Labels are put on every NodeClaim and Node of the pool. A pod may select them.
	// +kubebuilder:validation:MaxProperties=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x in [\"karpenter.sh/capacity-type\", \"karpenter.sh/nodepool\"] || !x.find(\"^([^/]+)\").endsWith(\"karpenter.sh\"))",message="label domain \"karpenter.sh\" is restricted"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x != \"karpenter.sh/nodepool\")",message="label \"karpenter.sh/nodepool\" is restricted"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x != \"kubernetes.io/hostname\")",message="label \"kubernetes.io/hostname\" is restricted"
	// +mapType=atomic
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are put on every NodeClaim and Node of the pool.
	// +mapType=granular
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// NodeClaimTemplateSpec is the part of a claim's spec that a pool decides. What pods request is
// computed for every claim and therefore is not in the template.
type NodeClaimTemplateSpec struct {
	// Taints keep away pods that do not tolerate them.
	// +listType=atomic
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// StartupTaints are taken off by another program while the node starts, for example by a network
	// agent once it is ready. Pods need not tolerate them.
	// +listType=atomic
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`
	// Requirements say which labels the nodes may have, and so which instances may be bought.
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator == 'In' ? has(x.values) && x.values.size() != 0 : true)",message="requirements with operator 'In' must have a value defined"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? (has(x.values) && x.values.size() == 1 && int(x.values[0]) >= 0) : true)",message="requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, (x.operator == 'In' && has(x.minValues)) ? has(x.values) && x.values.size() >= x.minValues : true)",message="requirements with 'minValues' must have at least that many values specified in the 'values' field"
	// +kubebuilder:validation:MaxItems=100
	// +listType=atomic
	// +required
	Requirements []Requirement `json:"requirements" hash:"ignore"`
	// NodeClassRef names the cloud's own settings for these nodes.
	// +kubebuilder:validation:XValidation:rule="self.group == oldSelf.group",message="nodeClassRef.group is immutable"
	// +kubebuilder:validation:XValidation:rule="self.kind == oldSelf.kind",message="nodeClassRef.kind is immutable"
	// +required
	NodeClassRef *NodeClassReference `json:"nodeClassRef"`
	// TerminationGracePeriod is how long a node may drain before its pods are deleted in spite of all that
	// holds them, disruption budgets and the do-not-disrupt annotation included. Without it there is no limit.
	// +kubebuilder:validation:Pattern=`^([0-9]+(s|m|h))+$`
	// +kubebuilder:validation:Type=string
	// +optional
	TerminationGracePeriod *scalar.Duration `json:"terminationGracePeriod,omitempty"`
	// ExpireAfter is the age at which a node is replaced, or Never.
	// +kubebuilder:default:="720h"
	// +kubebuilder:validation:Pattern=`^(([0-9]+(s|m|h))+|Never)$`
	// +kubebuilder:validation:Type=string
	// +optional
	ExpireAfter NillableDuration `json:"expireAfter,omitempty"`
}

// Operators of requirements beyond those that Kubernetes has for nodes.
const (
	OperatorGte corev1.NodeSelectorOperator = "Gte"
	OperatorLte corev1.NodeSelectorOperator = "Lte"
)

// Requirement says which values a node's label may have.
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
	// Values is not empty for In, has exactly one integer for Gt, Lt, Gte and Lte, and is empty for
	// Exists and DoesNotExist.
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
	// MinValues is how many different values the instance types left for a node must have at least,
	// so that the cloud has a choice. This field is alpha.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +optional
	MinValues *int `json:"minValues,omitempty"`
}

// NodeClassReference names an object of the cloud's own group.
type NodeClassReference struct {
	// Kind of the node class.
	// +kubebuilder:validation:XValidation:rule="self != ''",message="kind may not be empty"
	// +required
	Kind string `json:"kind"`
	// Name of the node class.
	// +kubebuilder:validation:XValidation:rule="self != ''",message="name may not be empty"
	// +required
	Name string `json:"name"`
	// Group of the node class.
	// +kubebuilder:validation:Pattern=`^[^/]*$`
	// +kubebuilder:validation:XValidation:rule="self != ''",message="group may not be empty"
	// +required
	Group string `json:"group"`
}
