package cluster

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// spread is one constraint with its counts.
type spread struct {
	corev1.TopologySpreadConstraint
	selector labels.Selector
	counts   map[string]int
	least    int
	self     int
}

// constraints returns the pod's own constraints, or the scheduler's defaults for pods of controllers
// without constraints.
func constraints(pod *corev1.Pod) []corev1.TopologySpreadConstraint {
	ref := metav1.GetControllerOfNoCopy(pod)
	if len(pod.Spec.TopologySpreadConstraints) > 0 || ref == nil || ref.Kind != "ReplicaSet" && ref.Kind != "StatefulSet" {
		return pod.Spec.TopologySpreadConstraints
	}
	selector := &metav1.LabelSelector{MatchLabels: pod.Labels}
	return []corev1.TopologySpreadConstraint{
		{MaxSkew: 3, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector},
		{MaxSkew: 5, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector},
	}
}

// countSpread counts the pods of a constraint by domain, over the nodes that it includes.
func (a *ask) countSpread(f *nodeIndex, constraint corev1.TopologySpreadConstraint) spread {
	s := spread{TopologySpreadConstraint: constraint, counts: map[string]int{}, selector: selectorOf(constraint.LabelSelector, constraint.MatchLabelKeys, a.pod)}
	if s.selector.Matches(labels.Set(a.pod.Labels)) {
		s.self = 1
	}
	domains := make(map[*room]string, len(f.rooms))
	for _, r := range f.rooms {
		if value, has := r.node.Labels[constraint.TopologyKey]; has && a.matters(constraint, r.node) {
			domains[r] = value
			s.counts[value] = 0
		}
	}
	for _, k := range f.groups { // sums, in any order
		if k.namespace != a.pod.Namespace || !s.selector.Matches(k.labels) {
			continue
		}
		for r, n := range k.staying { // as above
			if value, counts := domains[r]; counts {
				s.counts[value] += n
			}
		}
	}
	s.settle()
	return s
}

func (s *spread) matches(of, pod *corev1.Pod) bool {
	return pod.Namespace == of.Namespace && pod.DeletionTimestamp == nil && s.selector.Matches(labels.Set(pod.Labels))
}

// counted reports whether a pod on a node counts.
func (s *spread) counted(a *ask, r *room, pod *corev1.Pod) bool {
	_, has := r.node.Labels[s.TopologyKey]
	return has && s.matches(a.pod, pod) && a.matters(s.TopologySpreadConstraint, r.node)
}

func (s *spread) settle() {
	s.least = math.MaxInt
	for _, n := range s.counts { // the least of all, in any order
		s.least = min(s.least, n)
	}
	if len(s.counts) < int(ptr.Deref(s.MinDomains, 1)) {
		s.least = 0
	}
}

// matters reports whether the pods of a node are counted.
func (a *ask) matters(constraint corev1.TopologySpreadConstraint, node *corev1.Node) bool {
	if ptr.Deref(constraint.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor) == corev1.NodeInclusionPolicyHonor && !a.allowed(node) {
		return false
	}
	return ptr.Deref(constraint.NodeTaintsPolicy, corev1.NodeInclusionPolicyIgnore) != corev1.NodeInclusionPolicyHonor || !a.tainted(node)
}

func (a *ask) spreadHolds(node *corev1.Node) bool {
	for _, s := range a.spreads {
		value, has := node.Labels[s.TopologyKey]
		if !has || s.counts[value]+s.self-s.least > int(s.MaxSkew) {
			return false
		}
	}
	return true
}
