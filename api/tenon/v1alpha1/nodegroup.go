package v1alpha1

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
)

// Mode is what may be done to a group.
type Mode string

// Modes.
const (
	// ModeObserve shows the group, and changes nothing.
	ModeObserve Mode = "observe"
	// ModeNative has the group grow when pods need nodes and shrink when they do not, as pools do.
	ModeNative Mode = "native"
	// ModeCAS has the group managed by the rules of Cluster Autoscaler.
	ModeCAS Mode = "cas"
)

// Annotations of nodes, which the controller writes for groups that it may change.
const (
	// AnnotationGroup names the NodeGroup that the node belongs to.
	AnnotationGroup = "tenon.sh/node-group"
	// AnnotationJoined says that the node has been Ready, or had the time to become so. Until then it counts as a node
	// that is still to come.
	AnnotationJoined = "tenon.sh/node-group-joined"
	// AnnotationLastPodEvent says when a pod last came to the node or left it, as RFC 3339.
	AnnotationLastPodEvent = "tenon.sh/last-pod-event"
	// AnnotationEnded says of a node that is being deleted that the cloud was told to end its instance. The desired size of
	// the group does not include the instance any more, or the cloud replaces it.
	AnnotationEnded = "tenon.sh/instance-ended"
	// AnnotationDelayed says since when other programs have kept the instance of a drained node, as RFC 3339.
	AnnotationDelayed = "tenon.sh/deletion-delayed"
	// AnnotationCordoned says that Tenon cordoned the node, so that it is undone if the node stays after all.
	AnnotationCordoned = "tenon.sh/cordoned"
)

// Taints of nodes of groups in mode cas, as Cluster Autoscaler has them. Their values are seconds since 1970.
const (
	// TaintCandidate is on a node that nothing needs, since the time that it says. Pods are put there last.
	TaintCandidate = "DeletionCandidateOfClusterAutoscaler"
	// TaintToBeDeleted is on a node that goes. No pods are put there.
	TaintToBeDeleted = "ToBeDeletedByClusterAutoscaler"
)

// Conditions of a NodeGroup. Ready is computed from the first three; the others are plain.
const (
	// ConditionGroupFound: the cloud has the group.
	ConditionGroupFound = "GroupFound"
	// ConditionSupported: the group can be managed as a number of like nodes.
	ConditionSupported = "Supported"
	// ConditionTemplateKnown: it is known what a further node of the group would be like.
	ConditionTemplateKnown = "TemplateKnown"
	// ConditionHealthy: the nodes of the group have joined and are Ready, but for a few.
	ConditionHealthy = "Healthy"
	// ConditionUnhindered: nothing is known that works against a change of the group's size.
	ConditionUnhindered = "Unhindered"
	// ConditionBackedOff: instances did not come, and for a while no more are asked for.
	ConditionBackedOff = "BackedOff"
	// ConditionForeignAutoscaler: a Cluster Autoscaler is alive that may change the group. Until it is False, Tenon does not.
	ConditionForeignAutoscaler = "ForeignAutoscalerActive"
)

// NodeGroup shows a group of instances that the cloud keeps at a size, such as an Auto Scaling group. Tenon makes one
// for each group that it is told of or discovers.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodegroups,scope=Cluster,categories=tenon,shortName=ng
// +kubebuilder:printcolumn:name="Mode",type="string",JSONPath=".spec.mode",description=""
// +kubebuilder:printcolumn:name="Min",type="integer",JSONPath=".status.size.min",description=""
// +kubebuilder:printcolumn:name="Max",type="integer",JSONPath=".status.size.max",description=""
// +kubebuilder:printcolumn:name="Desired",type="integer",JSONPath=".status.size.desired",description=""
// +kubebuilder:printcolumn:name="Instances",type="integer",JSONPath=".status.instances.total",description=""
// +kubebuilder:printcolumn:name="Ready nodes",type="integer",JSONPath=".status.instances.ready",description=""
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description=""
// +kubebuilder:printcolumn:name="Healthy",type="string",JSONPath=".status.conditions[?(@.type==\"Healthy\")].status",description=""
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description=""
// +kubebuilder:printcolumn:name="Group",type="string",priority=1,JSONPath=".spec.groupName",description=""
// +kubebuilder:printcolumn:name="Types",type="string",priority=1,JSONPath=".status.instanceTypes",description=""
// +kubebuilder:printcolumn:name="Zones",type="string",priority=1,JSONPath=".status.zones",description=""
// +kubebuilder:printcolumn:name="Price per hour",type="string",priority=1,JSONPath=".status.price.perHour",description=""
// +kubebuilder:subresource:status
type NodeGroup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec   NodeGroupSpec   `json:"spec"`
	Status NodeGroupStatus `json:"status,omitempty"`
}

// NodeGroupSpec says which group it is, and what may be done to it.
type NodeGroupSpec struct {
	// GroupName is the group's name in the cloud.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="groupName is immutable"
	// +required
	GroupName string `json:"groupName"`
	// Mode is what may be done to the group. In mode observe it is shown, and nothing is changed. In mode native it grows
	// when pods need nodes, and its nodes are disrupted as those of pools are, but not below the group's minimum. In mode
	// cas its nodes go by the rules of Cluster Autoscaler instead.
	// +kubebuilder:validation:Enum:=observe;native;cas
	// +kubebuilder:default:="observe"
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// Disruption says when nodes of a group in mode native may be taken away, as in a NodePool. If it is not given,
	// consolidateAfter is what the group's tag scaledownunneededtime says, or else ten minutes, and a tenth of the nodes
	// may be disrupted at a time. In mode cas budgets count that are given, and consolidateAfter Never; other flags and
	// options say the rest.
	// +optional
	Disruption *karpenterv1.Disruption `json:"disruption,omitempty"`
}

// UnneededTime is the option of a group that says how long a node must have been unneeded before it may go.
const UnneededTime = "scaledownunneededtime"

// usualUnneededTime is what counts if neither the object nor the group says something else. (As in Cluster Autoscaler.)
const usualUnneededTime = 10 * time.Minute

// Disrupts is when nodes of the group may be taken away: what the object says, or what follows from the group's options.
func (g *NodeGroup) Disrupts() karpenterv1.Disruption {
	if g.Spec.Disruption != nil {
		return *g.Spec.Disruption
	}
	after := usualUnneededTime
	if said, err := time.ParseDuration(g.Status.Options[UnneededTime]); err == nil && said >= 0 {
		after = said
	}
	return karpenterv1.Disruption{
		ConsolidateAfter:    karpenterv1.DurationOf(after),
		ConsolidationPolicy: karpenterv1.ConsolidateWhenEmptyOrUnderutilized,
		Budgets:             []karpenterv1.Budget{{Nodes: "10%"}},
	}
}

// NodeGroupStatus is what the cloud and the cluster say of the group.
type NodeGroupStatus struct {
	// Size is how many instances the group may and should have.
	// +optional
	Size *NodeGroupSize `json:"size,omitempty"`
	// Instances counts what the group has.
	// +optional
	Instances *NodeGroupInstances `json:"instances,omitempty"`
	// Priority is that of the expander priority in mode cas: pods get nodes of the group with the highest first.
	// +optional
	Priority *int64 `json:"priority,omitempty"`
	// Scaled is when Tenon last changed the group.
	// +optional
	Scaled *NodeGroupScaled `json:"scaled,omitempty"`
	// Backoff is kept for three hours after instances did not come.
	// +optional
	Backoff *NodeGroupBackoff `json:"backoff,omitempty"`
	// Unregistered are instances without a node.
	// +listType=map
	// +listMapKey=providerID
	// +optional
	Unregistered []UnregisteredInstance `json:"unregistered,omitempty"`
	// Zones in which the cloud puts instances of the group, as it chooses.
	// +optional
	Zones []string `json:"zones,omitempty"`
	// InstanceTypes of which the cloud launches instances, as it chooses.
	// +optional
	InstanceTypes []string `json:"instanceTypes,omitempty"`
	// CapacityTypes in which the cloud buys instances, as it chooses: on-demand, spot.
	// +optional
	CapacityTypes []string `json:"capacityTypes,omitempty"`
	// Template is what a further node of the group has at least.
	// +optional
	Template *NodeGroupTemplate `json:"template,omitempty"`
	// Price of the group.
	// +optional
	Price *NodeGroupPrice `json:"price,omitempty"`
	// Options are those that the group has for itself, by the names of Cluster Autoscaler.
	// +optional
	Options map[string]string `json:"options,omitempty"`
	// Conditions say whether the group was found, can be managed, is known and is well.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeGroupSize is what bounds a group, and what it should have.
type NodeGroupSize struct {
	// Min is the floor: the group does not get smaller.
	Min int64 `json:"min"`
	// Max is the ceiling: the group does not get larger.
	Max int64 `json:"max"`
	// Desired is what the cloud keeps it at.
	Desired int64 `json:"desired"`
	// Since is when Desired was last seen to change.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
}

// NodeGroupScaled says when a group was last changed.
type NodeGroupScaled struct {
	// Up is when the group was last asked to grow.
	// +optional
	Up metav1.Time `json:"up,omitzero"`
	// Down is when an instance that was not needed was last ended, and Failed when the cloud last refused that.
	// +optional
	Down metav1.Time `json:"down,omitzero"`
	// +optional
	Failed metav1.Time `json:"failed,omitzero"`
}

// NodeGroupBackoff says that, and for how long, no instances are asked for because the last ones did not come.
type NodeGroupBackoff struct {
	// Failures is how many times in a row instances did not come.
	Failures int64 `json:"failures"`
	// Since is when the last failure was seen, and Until when instances are asked for again.
	Since metav1.Time `json:"since"`
	Until metav1.Time `json:"until"`
}

// UnregisteredInstance is an instance that has no node.
type UnregisteredInstance struct {
	ProviderID string `json:"providerID"`
	// Since is when it was first seen without one.
	Since metav1.Time `json:"since"`
}

// NodeGroupInstances counts a group's instances.
type NodeGroupInstances struct {
	// Total is all instances that the cloud lists.
	Total int64 `json:"total"`
	// Ready instances have a node that is Ready.
	Ready int64 `json:"ready"`
	// Unready instances have a node that is not Ready.
	Unready int64 `json:"unready"`
	// Unregistered instances have no node.
	Unregistered int64 `json:"unregistered"`
	// Leaving instances are being terminated; they are counted nowhere else but in Total.
	Leaving int64 `json:"leaving"`
}

// NodeGroupTemplate is what a further node of a group has at least.
type NodeGroupTemplate struct {
	// Source names where it comes from: the node that it was copied from, or the group's own settings.
	Source string `json:"source"`
	// Labels of the node, without those of which the cloud chooses the value.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Taints of the node once it has started.
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Capacity of the node.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Allocatable is what daemons and pods can use.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
}

// NodeGroupPrice is what a group costs, in the currency of the cloud's prices.
type NodeGroupPrice struct {
	// PerNode is what a further node costs an hour at most.
	// +optional
	PerNode string `json:"perNode,omitempty"`
	// PerHour is what the group's instances cost an hour.
	// +optional
	PerHour string `json:"perHour,omitempty"`
}

// NodeGroupList is a list of NodeGroups.
//
// +kubebuilder:object:root=true
type NodeGroupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeGroup `json:"items"`
}

// Observed reports whether the group may not be changed.
func (g *NodeGroup) Observed() bool { return g.Spec.Mode == "" || g.Spec.Mode == ModeObserve }

// Free reports whether it is known that no other autoscaler changes the group.
func (g *NodeGroup) Free() bool {
	return meta.IsStatusConditionFalse(g.Status.Conditions, ConditionForeignAutoscaler)
}

// BackedOff reports whether no instances are asked for, because the last ones did not come.
func (g *NodeGroup) BackedOff() bool {
	return meta.IsStatusConditionTrue(g.Status.Conditions, ConditionBackedOff)
}

// Options of a group that say how long an instance may take to become a node, and a node to become Ready.
const (
	ProvisionTime = "maxnodeprovisiontime"
	StartupTime   = "maxnodestartuptime"
)

// Provisions is how long an instance of the group may take to become a node, unless the group says it as usual.
func (g *NodeGroup) Provisions(usual time.Duration) time.Duration {
	return g.period(ProvisionTime, usual)
}

// Starts is how long a node of the group may take to become Ready, unless the group says it as usual.
func (g *NodeGroup) Starts(usual time.Duration) time.Duration { return g.period(StartupTime, usual) }

func (g *NodeGroup) period(option string, usual time.Duration) time.Duration {
	if said, err := time.ParseDuration(g.Status.Options[option]); err == nil && said > 0 {
		return said
	}
	return usual
}

// SetDefaults fills in what the API server would, for objects that come from a file.
func (g *NodeGroup) SetDefaults() {
	if g.Spec.Mode == "" {
		g.Spec.Mode = ModeObserve
	}
	if g.Spec.Disruption != nil {
		g.Spec.Disruption.SetDefaults()
	}
}

// longestName is the longest name of a NodeGroup. It leaves room for labels that contain the name.
const (
	longestName = 63
	hashLength  = 8
)

// ObjectName is the name of the NodeGroup of a group: the group's own name if it has only lower-case letters, digits and
// inner dashes and is not too long. Otherwise the name is changed and ends in a hash of the group's name, so that no two
// groups share a name.
func ObjectName(group string) string {
	lower := strings.ToLower(group)
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, lower)
	name = strings.Trim(name, "-")
	if name == group && len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(group))
	ending := hex.EncodeToString(sum[:])[:hashLength]
	if name = strings.TrimRight(name[:min(len(name), longestName-hashLength-1)], "-"); name == "" {
		return ending
	}
	return name + "-" + ending
}
