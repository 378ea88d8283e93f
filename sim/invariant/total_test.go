package invariant_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/model"
	"tenon/core/plan"
	"tenon/internal/command"
	"tenon/sim/invariant"
)

// grouped adds a group in mode cas with two instances of four cores, and a node for the first one, which a disruption takes.
func (s *fixture) grouped() *corev1.Node {
	s.t.Helper()
	group := cloud.Group{Name: "web", Desired: 2, Next: &cloud.GroupTemplate{Capacity: model.Resources{CPU: 4000}}}
	for _, id := range []string{"aws:///a/1", "aws:///a/2"} {
		group.Instances = append(group.Instances, cloud.GroupInstance{ProviderID: id})
	}
	s.watch.Totals.Groups = func() []cloud.Group { return []cloud.Group{group} }
	o := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	o.Spec.GroupName, o.Spec.Mode = "web", tenonv1alpha1.ModeCAS
	s.make(o)
	record := command.Record{ID: "less", Reason: plan.Underutilized, Begun: s.clock.Now(), Claims: []command.Member{{Claim: command.MemberOf("", "member")}}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "member", Finalizers: []string{karpenterv1.FinalizerTermination}, Annotations: map[string]string{
		tenonv1alpha1.AnnotationGroup: "web", karpenterv1.AnnotationDisruption: record.String(),
	}}}
	node.Spec.ProviderID = "aws:///a/1"
	s.make(node)
	return node
}

// most bounds the number of all nodes.
func (s *fixture) most(nodes int64) {
	s.watch.Totals.Limits = []model.Amount{{Name: model.Nodes, Value: nodes}}
}

// shrinks deletes a node of a group while the cluster has to keep some cores.
func (s *fixture) shrinks(keep int64, before ...func()) {
	s.t.Helper()
	s.watch.Totals.Floors = []model.Amount{{Name: model.CPU, Value: keep}}
	node := s.grouped()
	s.pass(time.Hour)
	for _, do := range before {
		do()
	}
	s.delete(node)
}

// totals are examples of limits and minimums of all nodes.
func totals() map[string]example {
	return map[string]example{
		"a node beyond the limit of the cluster": {invariant.ClusterLimits,
			func(s *fixture) { s.most(1); s.serve("a"); s.serve("b") },
			func(s *fixture) { s.most(2); s.serve("a"); s.serve("b") }},
		"a node beside those of a group": {invariant.ClusterLimits,
			func(s *fixture) { s.most(2); s.grouped(); s.serve("a") },
			func(s *fixture) { s.most(2); s.delete(s.grouped()); s.serve("a") }},
		"a group that has grown beyond the limit": {invariant.ClusterLimits,
			func(s *fixture) { s.most(1); s.grouped(); s.watch.Grown("web") },
			func(s *fixture) { s.most(1); s.grouped(); s.watch.Disturbed(); s.watch.Grown("web") }},
		"a group that shrinks below the minimum": {invariant.ClusterFloors,
			func(s *fixture) { s.shrinks(8_000) },
			func(s *fixture) { s.shrinks(4_000) }},
		"a group that shrinks while a node of a pool leaves": {invariant.ClusterFloors,
			func(s *fixture) { s.shrinks(8_000) },
			func(s *fixture) { s.shrinks(8_000, func() { s.delete(s.claim("a")) }) }},
	}
}
