package v1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	"tenon/api/scalar"
)

// NodePool describes nodes that may be made, and when they may be taken away again.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodepools,scope=Cluster,categories=karpenter
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.template.spec.nodeClassRef.name",description=""
// +kubebuilder:printcolumn:name="Nodes",type="string",JSONPath=".status.nodes",description=""
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1,description=""
// +kubebuilder:printcolumn:name="CPU",type="string",JSONPath=".status.resources.cpu",priority=1,description=""
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".status.resources.memory",priority=1,description=""
// +kubebuilder:printcolumn:name="CPULimit",type="string",JSONPath=".spec.limits.cpu",priority=1,description=""
// +kubebuilder:printcolumn:name="MemoryLimit",type="string",JSONPath=".spec.limits.memory",priority=1,description=""
// +kubebuilder:printcolumn:name="NodesLimit",type="string",JSONPath=".spec.limits.nodes",priority=1,description=""
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.nodes
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="has(self.replicas) == has(oldSelf.replicas)",message="Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes"
	// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits))",message="only 'limits.nodes' is supported on static NodePools"
	// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.weight)",message="'weight' is not supported on static NodePools"
	// +required
	Spec   NodePoolSpec   `json:"spec"`
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolSpec is what the user wants of the pool.
type NodePoolSpec struct {
	// Template says what every node of the pool is like. A change of it drifts the pool's nodes,
	// requirements excepted: these drift a node only if it no longer meets them.
	// +required
	Template NodeClaimTemplate `json:"template"`
	// Disruption says when nodes may be taken away.
	// +kubebuilder:default:={consolidateAfter: "0s"}
	// +optional
	Disruption Disruption `json:"disruption,omitempty"`
	// Limits bound the resources of all nodes of the pool together.
	// +optional
	Limits Limits `json:"limits,omitempty"`
	// Weight ranks the pool: of several that a pod could use, the heaviest is taken. Absent is 0.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`
	// Replicas makes the pool static: it has this many nodes, with and without pods. This field is alpha.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
}

// ConsolidationPolicy says which nodes consolidation may take away.
type ConsolidationPolicy string

// The consolidation policies.
const (
	ConsolidateWhenEmpty                ConsolidationPolicy = "WhenEmpty"
	ConsolidateWhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	ConsolidateBalanced                 ConsolidationPolicy = "Balanced"
)

// Disruption says when nodes may be taken away.
type Disruption struct {
	// ConsolidateAfter is how long no pod must have come or gone before a node may be consolidated, or Never.
	// +kubebuilder:default:="0s"
	// +kubebuilder:validation:Pattern=`^(([0-9]+(s|m|h))+|Never)$`
	// +kubebuilder:validation:Type=string
	// +optional
	ConsolidateAfter NillableDuration `json:"consolidateAfter,omitempty"`
	// ConsolidationPolicy says which nodes consolidation may take away.
	// +kubebuilder:default:="WhenEmptyOrUnderutilized"
	// +kubebuilder:validation:Enum:={WhenEmpty,WhenEmptyOrUnderutilized,Balanced}
	// +optional
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`
	// Budgets bound how many nodes may be disrupted at the same time. The tightest of those that are
	// active counts. An explicitly empty list is no bound.
	// +kubebuilder:default:={{nodes: "10%"}}
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.schedule) == has(x.duration))",message="'schedule' must be set with 'duration'"
	// +kubebuilder:validation:MaxItems=50
	// +listType=atomic
	// +optional
	Budgets []Budget `json:"budgets,omitzero"`
}

// DisruptionReason is why a node is taken away voluntarily.
type DisruptionReason string

// The reasons that budgets know.
const (
	DisruptionUnderutilized DisruptionReason = "Underutilized"
	DisruptionEmpty         DisruptionReason = "Empty"
	DisruptionDrifted       DisruptionReason = "Drifted"
)

// Budget bounds how many nodes of a pool may be disrupted at the same time.
type Budget struct {
	// Reasons that the budget is about. Absent means all of them; an empty list means none.
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:Enum:={Underutilized,Empty,Drifted}
	// +listType=set
	// +optional
	Reasons []DisruptionReason `json:"reasons,omitzero"`
	// Nodes is a number, or a percentage of the pool's nodes, rounded up.
	// +kubebuilder:default:="10%"
	// +kubebuilder:validation:Pattern=`^((100|[0-9]{1,2})%|[0-9]+)$`
	// +required
	Nodes string `json:"nodes"`
	// Schedule says, as a cron line or macro in UTC, when the budget begins to count. Absent means always.
	// +kubebuilder:validation:Pattern=`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$`
	// +optional
	Schedule *string `json:"schedule,omitempty"`
	// Duration is how long the budget counts after each hit of the schedule, in hours and minutes.
	// +kubebuilder:validation:Pattern=`^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$`
	// +kubebuilder:validation:Type=string
	// +optional
	Duration *scalar.Duration `json:"duration,omitempty"`
}

// NodePoolStatus is what was found out about the pool.
type NodePoolStatus struct {
	// Resources that all nodes of the pool have together.
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// Nodes is how many nodes the pool has.
	// +kubebuilder:default:=0
	// +optional
	Nodes *int64 `json:"nodes,omitempty"`
	// NodeClassObservedGeneration is the generation of the node class for which the health of
	// registrations was judged.
	// +optional
	NodeClassObservedGeneration int64 `json:"nodeClassObservedGeneration,omitempty"`
	// Conditions say whether the pool can be used.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Conditions of a NodePool. NodeRegistrationHealthy only informs: it does not affect readiness. The same holds for
// Tenon's own conditions: LimitReached (pods wait for nodes that the limits forbid), OutOfStock (pods wait for
// machines that the cloud does not have), RolloutPaused (replacements of drifted nodes do not become ready),
// NodePriceRefused, PriceCeilingRefused and DriftAtLimitRefused (the annotation of that name cannot be read), and
// LaunchesRefused (the cloud refuses the pool's claims).
const (
	ConditionValidationSucceeded     = "ValidationSucceeded"
	ConditionNodeClassReady          = "NodeClassReady"
	ConditionNodeRegistrationHealthy = "NodeRegistrationHealthy"
	ConditionLimitReached            = "LimitReached"
	ConditionOutOfStock              = "OutOfStock"
	ConditionRolloutPaused           = "RolloutPaused"
	ConditionNodePriceRefused        = "NodePriceRefused"
	ConditionDriftAtLimitRefused     = "DriftAtLimitRefused"
	ConditionPriceCeilingRefused     = "PriceCeilingRefused"
	ConditionLaunchesRefused         = "LaunchesRefused"
)

// Reasons why the class of a pool is not ready that usually pass in a moment: the class is about to be
// created, or has not been checked yet.
const (
	ReasonNodeClassNotFound = "NodeClassNotFound"
	ReasonNodeClassUnknown  = "NodeClassReadinessUnknown"
)

// NodePoolConditions says when a pool is ready.
func NodePoolConditions() condition.Kind {
	return condition.Kind{
		Root:       condition.Ready,
		Dependents: []string{ConditionValidationSucceeded, ConditionNodeClassReady},
	}
}

// Conditions reads the pool's conditions at a time. The result goes back into status.conditions.
func (p *NodePool) Conditions(now time.Time) condition.Set {
	return NodePoolConditions().Read(p.Status.Conditions, condition.SubjectOf(p), now)
}

// IsStatic tells whether the pool has a fixed number of nodes, however many pods there are.
func (p *NodePool) IsStatic() bool { return p.Spec.Replicas != nil }

// NodePoolList is a list of NodePools.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodePool `json:"items"`
}
