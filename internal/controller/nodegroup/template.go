package nodegroup

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/core/order"
	"tenon/internal/clusterautoscaler"
	"tenon/internal/ingest"
)

// settledAfter is how long a node must have been Ready before the template is derived from it.
const settledAfter = time.Minute

// members are nodes by provider ID, with what is known of taints that pass.
type members struct {
	nodes   map[string]*corev1.Node
	passing *clusterautoscaler.Taints
}

// observed returns what the next node of the group has at least: what the group's settings say or, if the group has running nodes,
// what all of these have in common. It also names those nodes. Nodes of a group with several instance types add nothing
// to the settings, because the next node may be of another type.
func (m members) observed(g *cloud.Group, now time.Time) (*cloud.GroupTemplate, []string) {
	var from []*corev1.Node
	for i := range g.Instances {
		if node := m.nodes[g.Instances[i].ProviderID]; node != nil && m.settled(node, now) && oneOf(g, node) {
			from = append(from, node)
		}
	}
	if g.Next == nil {
		return nil, nil
	}
	if len(from) == 0 {
		next := *g.Next
		next.Taints = slices.DeleteFunc(slices.Clone(next.Taints), func(t model.Taint) bool { return m.passing.Passes(t.Key) })
		return &next, nil
	}
	slices.SortFunc(from, func(a, b *corev1.Node) int { return strings.Compare(a.Name, b.Name) })
	next := *g.Next
	next.Labels, next.Taints = labels(from, g), m.taints(from)
	next.Capacity, next.Allocatable = amounts(from, g)
	names := make([]string, len(from))
	for i, node := range from {
		names[i] = node.Name
	}
	return &next, names
}

// oneOf leaves out nodes of types that the group no longer launches.
func oneOf(g *cloud.Group, node *corev1.Node) bool {
	name := node.Labels[corev1.LabelInstanceTypeStable]
	return name == "" || len(g.Types) == 0 || slices.Contains(g.Types, name)
}

// settled nodes have been Ready for a while, have no startup taint, and are not leaving.
func (m members) settled(node *corev1.Node, now time.Time) bool {
	if node.DeletionTimestamp != nil || node.Spec.Unschedulable || !inService(node, m.passing) {
		return false
	}
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		if c.Type == corev1.NodeReady && now.Sub(c.LastTransitionTime.Time) < settledAfter {
			return false
		}
	}
	return !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == "ToBeDeletedByClusterAutoscaler" || t.Key == "karpenter.sh/disrupted"
	})
}

// temporary are prefixes of other taints that pass: those of a node's condition, and the marks of autoscalers.
var temporary = []string{
	"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/", tenonv1alpha1.TaintHandover, "ebs.csi.aws.com/agent-not-ready",
}

// taints are all taints that at least one node has, because a user may have removed them from the others.
func (m members) taints(from []*corev1.Node) []model.Taint {
	byKey := map[string]model.Taint{}
	for _, node := range from {
		for _, t := range node.Spec.Taints {
			if !m.passing.Passes(t.Key) && !slices.ContainsFunc(temporary, func(prefix string) bool { return strings.HasPrefix(t.Key, prefix) }) {
				byKey[t.Key+":"+string(t.Effect)] = model.Taint{Key: t.Key, Value: t.Value, Effect: model.Effect(t.Effect)}
			}
		}
	}
	var out []model.Taint
	for _, key := range order.Keys(byKey) {
		out = append(out, byKey[key])
	}
	return out
}

// personal are labels of which each node has its own value.
var personal = []string{corev1.LabelHostname, "alpha.eksctl.io/instance-id", "topology.k8s.aws/zone-id"}

// labels are those that all nodes have in common, without those of which the cloud chooses the value, and without those
// that belong to one node.
func labels(from []*corev1.Node, g *cloud.Group) map[string]string {
	common := maps.Clone(from[0].Labels)
	for _, node := range from {
		maps.DeleteFunc(common, func(key, value string) bool { return node.Labels[key] != value })
	}
	maps.DeleteFunc(common, func(key, _ string) bool {
		return g.Next.Chosen[key] != nil || slices.Contains(personal, key)
	})
	return common
}

// amounts are, for each resource, the smallest amount of any node, but at least the amount that the group declares.
func amounts(from []*corev1.Node, g *cloud.Group) (capacity, allocatable model.Resources) {
	for i, node := range from {
		has, gives := ingest.Resources(node.Status.Capacity), ingest.Resources(node.Status.Allocatable)
		if i == 0 {
			capacity, allocatable = has, gives
		}
		capacity, allocatable = capacity.Min(has), allocatable.Min(gives)
	}
	if len(g.Types) > 1 {
		capacity, allocatable = capacity.Min(g.Next.Capacity), allocatable.Min(g.Next.Allocatable)
	}
	for _, a := range g.Next.Declared.Amounts() {
		if capacity.Get(a.Name) == 0 {
			more := model.NewResources(a)
			capacity, allocatable = capacity.Add(more), allocatable.Add(more)
		}
	}
	return capacity, allocatable
}
