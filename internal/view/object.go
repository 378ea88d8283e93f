package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tenon/api/condition"
	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/internal/command"
	"tenon/internal/ingest"
	"tenon/internal/owner"
	"tenon/internal/podpolicy"
	"tenon/internal/savings"
)

// labelled sets the fields that follow from labels.
func (n *Node) labelled(labels map[string]string) {
	n.Labels = maps.Clone(labels)
	n.Pool, n.PoolKind = groupOf(labels)
	n.Type = cmp.Or(labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelInstanceType])
	n.Zone, n.Region = labels[corev1.LabelTopologyZone], regionOf(labels)
	n.Arch = labels[corev1.LabelArchStable]
	n.CapacityType = capacityTypeOf(labels)
	n.Auto = labels["eks.amazonaws.com/compute-type"] == "auto"
}

func nodeOf(o *corev1.Node) *Node {
	n := &Node{Name: o.Name, Instance: instanceOf(o.Spec.ProviderID), Created: o.CreationTimestamp.Time, Cordoned: o.Spec.Unschedulable}
	n.labelled(o.Labels)
	n.Allocatable = ingest.Resources(o.Status.Allocatable)
	n.Phase = NotReady
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.NodeReady {
			n.Since = c.LastTransitionTime.Time
			if c.Status == corev1.ConditionTrue {
				n.Phase = Ready
			}
		}
	}
	for _, t := range o.Spec.Taints {
		switch t.Key {
		case karpenterv1.TaintDisrupted().Key, "karpenter.sh/disruption":
			n.Going = "Disrupted"
		case "ToBeDeletedByClusterAutoscaler":
			n.Going = "ToBeDeleted"
		}
	}
	if o.DeletionTimestamp != nil {
		n.Phase, n.Since = Draining, o.DeletionTimestamp.Time
	}
	return n
}

// instanceOf returns the last part of a provider ID: aws:///us-west-2a/i-0123.
func instanceOf(id string) string { return visible(id[strings.LastIndexByte(id, '/')+1:]) }

// claimOf returns a node as its claim describes it; the name is empty until the node has joined.
func claimOf(o *karpenterv1.NodeClaim) *Node {
	n := &Node{Name: o.Status.NodeName, Claim: o.Name, Instance: instanceOf(o.Status.ProviderID), Created: o.CreationTimestamp.Time, Phase: Launching, Since: o.CreationTimestamp.Time}
	n.labelled(o.Labels)
	n.recorded = o.Annotations[karpenterv1.AnnotationPrice]
	n.Allocatable = ingest.Resources(o.Status.Allocatable)
	for _, step := range []struct {
		condition string
		phase     Phase
	}{{karpenterv1.ConditionLaunched, Registering}, {karpenterv1.ConditionRegistered, Initializing}, {karpenterv1.ConditionInitialized, Ready}} {
		if c := find(o.Status.Conditions, step.condition); c != nil && c.Status == metav1.ConditionTrue {
			n.Phase, n.Since = step.phase, c.LastTransitionTime.Time
		}
	}
	if c := find(o.Status.Conditions, karpenterv1.ConditionDisruptable); c != nil {
		n.Verdict = Verdict{Word: c.Reason, Message: visible(c.Message), Since: c.LastTransitionTime.Time}
	}
	if c := find(o.Status.Conditions, karpenterv1.ConditionDisruptionReason); c != nil && c.Status == metav1.ConditionTrue {
		n.Going = c.Reason
	}
	if record, ok := command.Of(o); ok && record.Takes(o.Name) {
		n.Going = string(record.Reason)
	}
	if o.DeletionTimestamp != nil {
		n.Phase, n.Since = Draining, o.DeletionTimestamp.Time
		if c := find(o.Status.Conditions, karpenterv1.ConditionDrained); c != nil && c.Status == metav1.ConditionTrue {
			n.Phase, n.Since = Deleting, c.LastTransitionTime.Time
		}
	}
	return n
}

func find(conditions []metav1.Condition, kind string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == kind {
			return &conditions[i]
		}
	}
	return nil
}

// join returns a node with the facts that its claim knows better: its progress, and its prospects.
func join(node, claim *Node) *Node {
	switch {
	case node == nil:
		n := *claim
		n.Name = cmp.Or(n.Name, n.Claim)
		return &n
	case claim == nil:
		n := *node
		return &n
	}
	n := *node
	n.Claim, n.Verdict, n.recorded = claim.Claim, claim.Verdict, claim.recorded
	n.Going = cmp.Or(claim.Going, node.Going)
	n.Instance = cmp.Or(n.Instance, claim.Instance)
	n.CapacityType, n.Type = cmp.Or(n.CapacityType, claim.CapacityType), cmp.Or(n.Type, claim.Type)
	n.Pool, n.PoolKind = cmp.Or(n.Pool, claim.Pool), cmp.Or(n.PoolKind, claim.PoolKind)
	switch claim.Phase {
	case Launching, Registering, Initializing, Draining, Deleting:
		n.Phase, n.Since = claim.Phase, claim.Since
	case Ready, NotReady:
	}
	if n.Allocatable.IsZero() {
		n.Allocatable = claim.Allocatable
	}
	return &n
}

func podOf(o *corev1.Pod) *Pod {
	p := &Pod{
		Namespace: o.Namespace, Name: o.Name, Node: o.Spec.NodeName, Phase: string(o.Status.Phase), Created: o.CreationTimestamp.Time,
		Requests: ingest.Requests(o), Ending: o.DeletionTimestamp != nil, uid: string(o.UID),
	}
	workload, daemon := owner.Workload(o)
	p.Owner, p.Daemon = visible(workload), daemon
	if v := o.Annotations[karpenterv1.AnnotationDoNotDisrupt]; v != "" && v != "false" {
		p.Flags = append(p.Flags, "do-not-disrupt")
	}
	if o.Annotations[podpolicy.AnnotationSafeToEvict] == "false" {
		p.Flags = append(p.Flags, "not safe-to-evict")
	}
	p.Why, p.Teller = waits(o)
	return p
}

// waits returns the pod's own reason for having no node.
func waits(o *corev1.Pod) (why, teller string) {
	if o.Spec.NodeName != "" {
		return "", ""
	}
	if n := len(o.Spec.SchedulingGates); n > 0 {
		return "Held by the scheduling gate " + o.Spec.SchedulingGates[0].Name, "the pod"
	}
	for _, c := range o.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return visible(c.Message), "scheduler"
		}
	}
	if name := o.Status.NominatedNodeName; name != "" {
		return "Its place on node " + name + " is kept for it", "the pod"
	}
	return "The scheduler has not looked at it yet", "the pod"
}

// informs lists conditions of pools that ask for attention when they are True; Ready does so when it is
// not.
var informs = []string{
	karpenterv1.ConditionLimitReached, karpenterv1.ConditionOutOfStock, karpenterv1.ConditionRolloutPaused, karpenterv1.ConditionNodePriceRefused,
	karpenterv1.ConditionDriftAtLimitRefused, karpenterv1.ConditionPriceCeilingRefused, karpenterv1.ConditionLaunchesRefused,
}

func poolOf(o *karpenterv1.NodePool) *Pool {
	account := savings.Of(o)
	p := &Pool{Name: o.Name, Kind: "NodePool", Object: o.Name, Has: ingest.Resources(o.Status.Resources), Savings: Savings{account.Moves, account.Predicted, account.Realised}}
	if class := o.Spec.Template.Spec.NodeClassRef; class != nil {
		p.Class = class.Kind + "/" + class.Name
	}
	p.disruption = o.Spec.Disruption.DeepCopy()
	limits := ingest.Resources(corev1.ResourceList(o.Spec.Limits))
	for _, name := range order.Keys(o.Spec.Limits) {
		p.Limits = append(p.Limits, model.Amount{Name: string(name), Value: limits.Get(string(name))})
	}
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		attention := slices.Contains(informs, c.Type) && c.Status == metav1.ConditionTrue || c.Type == "Ready" && c.Status == metav1.ConditionFalse
		if attention {
			p.Notices = append(p.Notices, Notice{Kind: "NodePool", Name: o.Name, Reason: c.Type, Message: visible(c.Message), At: c.LastTransitionTime.Time, Warning: true})
		}
	}
	slices.SortFunc(p.Notices, func(a, b Notice) int { return strings.Compare(a.Reason, b.Reason) })
	return p
}

// poolOfGroup returns a node group as a pool. Nodes name their group in a label, which the group's template has too, so that
// the nodes are found under the name that the label gives.
func poolOfGroup(o *tenonv1alpha1.NodeGroup) *Pool {
	p := &Pool{Name: visible(o.Spec.GroupName), Kind: "node group", Object: o.Name}
	if t := o.Status.Template; t != nil {
		if name, kind := groupOf(t.Labels); name != "" {
			p.Name, p.Kind = name, kind
		}
	}
	if !o.Observed() {
		own := o.Disrupts()
		p.disruption = own.DeepCopy()
	}
	if size := o.Status.Size; size != nil {
		p.Limits = []model.Amount{{Name: model.Nodes, Value: size.Max}}
	}
	for i := range o.Status.Conditions {
		if c := &o.Status.Conditions[i]; c.Type != condition.Ready && c.Status == metav1.ConditionFalse {
			p.Notices = append(p.Notices, Notice{Kind: "NodeGroup", Name: o.Name, Reason: c.Reason, Message: visible(c.Message), At: c.LastTransitionTime.Time, Warning: true})
		}
	}
	slices.SortFunc(p.Notices, func(a, b Notice) int { return strings.Compare(a.Reason, b.Reason) })
	return p
}

// Age formats how long ago something was: 45s, 12m, 5h, 3d.
func Age(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return Span(now.Sub(since))
}
