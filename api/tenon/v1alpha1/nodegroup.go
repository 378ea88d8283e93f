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

// Mode says how Tenon manages a group.
type Mode string

// Modes.
const (
	// ModeObserve shows the group, and changes nothing.
	ModeObserve Mode = "observe"
	// ModeNative makes the group grow when pods need nodes and shrink when they do not, like a pool.
	ModeNative Mode = "native"
	// ModeCAS makes Tenon manage the group by the rules of Cluster Autoscaler.
	ModeCAS Mode = "cas"
	// ModeHandover makes pools replace the nodes of the group, a few at a time. The group does not grow.
	ModeHandover Mode = "handover"
)

// AnnotationHandoverPaused with the value "true" on a NodeGroup in mode handover keeps further nodes of the group from being replaced.
const AnnotationHandoverPaused = "tenon.sh/handover-paused"

// Annotations of nodes, which the controller writes for groups that it may change.
const (
	// AnnotationGroup names the NodeGroup that the node belongs to.
	AnnotationGroup = "tenon.sh/node-group"
	// AnnotationJoined says that the node has been Ready, or had the time to become so. Until then it counts as a node
	// that is still to come.
	AnnotationJoined = "tenon.sh/node-group-joined"
	// AnnotationLastPodEvent says when a pod last came to the node or left it, as RFC 3339.
	AnnotationLastPodEvent = "tenon.sh/last-pod-event"
	// AnnotationEnded says, on a node that is being deleted, that the cloud was told to end its instance. The desired size of
	// the group does not include the instance any more, or the cloud replaces it.
	AnnotationEnded = "tenon.sh/instance-ended"
	// AnnotationDelayed says since when other programs have kept the instance of a drained node, as RFC 3339.
	AnnotationDelayed = "tenon.sh/deletion-delayed"
	// AnnotationEvicting says, on a node that is removed by the rules of Cluster Autoscaler, since when pods are to be evicted that have
	// not begun to leave, as GROUP TIME, and after that "failed" if this was reported.
	AnnotationEvicting = "tenon.sh/evicting"
	// AnnotationCordoned says that Tenon cordoned the node, and uncordons it if the node stays after all.
	AnnotationCordoned = "tenon.sh/cordoned"
)

// Taints of nodes of groups in mode cas, as Cluster Autoscaler has them. Their values are seconds since 1970.
const (
	// TaintCandidate is on an unneeded node, since the time in its value. The scheduler avoids such nodes.
	TaintCandidate = "DeletionCandidateOfClusterAutoscaler"
	// TaintToBeDeleted is on a node that is being removed. The scheduler binds no pods there.
	TaintToBeDeleted = "ToBeDeletedByClusterAutoscaler"
)

// TaintHandover is on all nodes of groups in mode handover. The scheduler avoids such nodes.
const TaintHandover = "tenon.sh/handover"

// Conditions of a NodeGroup. Ready is computed from the first three; the others are plain.
const (
	// ConditionGroupFound: the cloud has the group.
	ConditionGroupFound = "GroupFound"
	// ConditionSupported: the group can be managed as a number of like nodes.
	ConditionSupported = "Supported"
	// ConditionTemplateKnown: the properties of a further node of the group are known.
	ConditionTemplateKnown = "TemplateKnown"
	// ConditionHealthy: the nodes of the group have joined and are Ready, except for a few.
	ConditionHealthy = "Healthy"
	// ConditionUnhindered: no obstacle to a change of the group's size is known.
	ConditionUnhindered = "Unhindered"
	// ConditionBackedOff: instances did not launch, and for a while Tenon requests no more.
	ConditionBackedOff = "BackedOff"
	// ConditionForeignAutoscaler: an active Cluster Autoscaler may change the group. Until it is False, Tenon does not.
	ConditionForeignAutoscaler = "ForeignAutoscalerActive"
	// ConditionHandedOver: pools have replaced the nodes of the group, down to its minimum. Only groups in mode handover have it.
	ConditionHandedOver = "HandedOver"
)

// NodeGroup shows a group of instances that the cloud keeps at a size, such as an Auto Scaling group. Tenon makes one
// for each group that its settings name or that it discovers.
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

// NodeGroupSpec names the group, and says how Tenon manages it.
type NodeGroupSpec struct {
	// GroupName is the group's name in the cloud.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="groupName is immutable"
	// +required
	GroupName string `json:"groupName"`
	// Mode says how Tenon manages the group. In mode observe Tenon shows it, and changes nothing. In mode native it grows
	// when pods need nodes, and its nodes are disrupted like those of pools, but not below the group's minimum. In mode
	// cas its nodes are removed by the rules of Cluster Autoscaler instead. In mode handover pools replace its nodes, and it
	// does not grow.
	// +kubebuilder:validation:Enum:=observe;native;cas;handover
	// +kubebuilder:default:="observe"
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// Disruption says when nodes of a group in mode native may be removed, as in a NodePool. If it is not given,
	// consolidateAfter is the value of the group's tag scaledownunneededtime, or else ten minutes, and a tenth of the nodes
	// may be disrupted at a time. In mode cas only given budgets and consolidateAfter Never count; flags and options of
	// Cluster Autoscaler decide the rest.
	// +optional
	Disruption *karpenterv1.Disruption `json:"disruption,omitempty"`
}

// UnneededTime is the option of a group that says how long a node must have been unneeded before it may go.
const UnneededTime = "scaledownunneededtime"

// usualUnneededTime is the default if neither the object nor the group sets a time. (As in Cluster Autoscaler.)
const usualUnneededTime = 10 * time.Minute

// Disrupts says when nodes of the group may be removed, by the object or else by the group's options.
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

// NodeGroupStatus is the state of the group in the cloud and the cluster.
type NodeGroupStatus struct {
	// Size is how many instances the group may and should have.
	// +optional
	Size *NodeGroupSize `json:"size,omitempty"`
	// Instances counts the group's instances.
	// +optional
	Instances *NodeGroupInstances `json:"instances,omitempty"`
	// Priority is the group's priority for the expander priority in mode cas: the group with the highest grows first.
	// +optional
	Priority *int64 `json:"priority,omitempty"`
	// Scaled is when Tenon last changed the group.
	// +optional
	Scaled *NodeGroupScaled `json:"scaled,omitempty"`
	// Backoff is kept for three hours after instances did not launch or join.
	// +optional
	Backoff *NodeGroupBackoff `json:"backoff,omitempty"`
	// Unregistered are instances without a node.
	// +listType=map
	// +listMapKey=providerID
	// +optional
	Unregistered []UnregisteredInstance `json:"unregistered,omitempty"`
	// Zones from which the cloud chooses when it launches instances.
	// +optional
	Zones []string `json:"zones,omitempty"`
	// InstanceTypes from which the cloud chooses when it launches instances.
	// +optional
	InstanceTypes []string `json:"instanceTypes,omitempty"`
	// CapacityTypes from which the cloud chooses when it launches instances: on-demand, spot.
	// +optional
	CapacityTypes []string `json:"capacityTypes,omitempty"`
	// Template has the minimum properties of a further node of the group.
	// +optional
	Template *NodeGroupTemplate `json:"template,omitempty"`
	// Price of the group.
	// +optional
	Price *NodeGroupPrice `json:"price,omitempty"`
	// Options are the group's own options, by the names of Cluster Autoscaler.
	// +optional
	Options map[string]string `json:"options,omitempty"`
	// Conditions say whether the group was found, can be managed, has a known template and is healthy.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// NodeGroupSize holds the bounds and the desired size of a group.
type NodeGroupSize struct {
	// Min is the floor: the group does not get smaller.
	Min int64 `json:"min"`
	// Max is the ceiling: the group does not get larger.
	Max int64 `json:"max"`
	// Desired is the size at which the cloud keeps the group.
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
	// Down is when an unneeded instance was last ended, and Failed when the cloud last refused to end one.
	// +optional
	Down metav1.Time `json:"down,omitzero"`
	// +optional
	Failed metav1.Time `json:"failed,omitzero"`
}

// NodeGroupBackoff says how long Tenon requests no instances because the last ones did not launch or join.
type NodeGroupBackoff struct {
	// Failures is how many times in a row instances did not launch or join.
	Failures int64 `json:"failures"`
	// Since is when the last failure was seen, and Until when Tenon requests instances again.
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
	// Leaving instances are being terminated; besides this they count only in Total.
	Leaving int64 `json:"leaving"`
}

// NodeGroupTemplate has the minimum properties of a further node of a group.
type NodeGroupTemplate struct {
	// Source names the origin of the template: the node from which it was copied, or the group's own settings.
	Source string `json:"source"`
	// Labels of the node, without those whose value the cloud chooses.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Taints of the node once it has started.
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`
	// Capacity of the node.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Allocatable is the part of the capacity that daemons and pods can use.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
}

// NodeGroupPrice is the price of a group, in the currency of the cloud's prices.
type NodeGroupPrice struct {
	// PerNode is the highest price of a further node an hour.
	// +optional
	PerNode string `json:"perNode,omitempty"`
	// PerHour is the price of the group's instances an hour.
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

// Observed reports whether Tenon must not change the group.
func (g *NodeGroup) Observed() bool { return g.Spec.Mode == "" || g.Spec.Mode == ModeObserve }

// HandoverPaused reports whether no further node of a group in mode handover may be replaced.
func (g *NodeGroup) HandoverPaused() bool { return g.Annotations[AnnotationHandoverPaused] == "true" }

// Free reports whether it is known that no other autoscaler changes the group.
func (g *NodeGroup) Free() bool {
	return meta.IsStatusConditionFalse(g.Status.Conditions, ConditionForeignAutoscaler)
}

// Foreign reports whether it is known that another autoscaler changes the group.
func (g *NodeGroup) Foreign() bool {
	return meta.IsStatusConditionTrue(g.Status.Conditions, ConditionForeignAutoscaler)
}

// BackedOff reports whether Tenon requests no instances because the last ones did not launch or join.
func (g *NodeGroup) BackedOff() bool {
	return meta.IsStatusConditionTrue(g.Status.Conditions, ConditionBackedOff)
}

// Options of a group that say how long an instance may take to become a node, and a node to become Ready.
const (
	ProvisionTime = "maxnodeprovisiontime"
	StartupTime   = "maxnodestartuptime"
)

// Provisions is how long an instance of the group may take to become a node: the group's option, or else the given default.
func (g *NodeGroup) Provisions(usual time.Duration) time.Duration {
	return g.period(ProvisionTime, usual)
}

// Starts is how long a node of the group may take to become Ready: the group's option, or else the given default.
func (g *NodeGroup) Starts(usual time.Duration) time.Duration { return g.period(StartupTime, usual) }

func (g *NodeGroup) period(option string, usual time.Duration) time.Duration {
	if said, err := time.ParseDuration(g.Status.Options[option]); err == nil && said > 0 {
		return said
	}
	return usual
}

// SetDefaults fills in the API server's defaults, for objects from a file.
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
