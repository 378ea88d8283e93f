package invariant_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/core/plan"
	"tenon/sim/invariant"
)

// kept makes the cloud keep the group at a size.
func (s *fixture) kept(desired int64) {
	groups := s.watch.Totals.Groups()
	groups[0].Desired = desired
	s.watch.Totals.Groups = func() []cloud.Group { return groups }
}

// second makes the node of the group's other instance.
func (s *fixture) second() *corev1.Node {
	s.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "second", Annotations: map[string]string{tenonv1alpha1.AnnotationGroup: "web"}}}
	node.Spec.ProviderID = "aws:///a/2"
	s.make(node)
	return node
}

// joins says on a node of a group that it takes pods.
func (s *fixture) joins(node *corev1.Node) {
	s.t.Helper()
	node.Annotations[tenonv1alpha1.AnnotationJoined] = "true"
	s.must(s.store.Update(context.Background(), node))
}

// outlives makes a claim with eight pods on its node, which has been there for a while.
func (s *fixture) outlives() {
	s.grouped()
	s.serve("a")
	for i := range 8 {
		s.pod(fmt.Sprint("p", i), "node-a")
	}
	s.pass(10 * time.Minute)
}

// grouping are examples of rules about groups.
func grouping() map[string]example {
	return map[string]example{
		"a size above the maximum": {invariant.GroupBounds,
			func(s *fixture) { s.grouped(); s.kept(10); s.watch.Resized("web", 9, 10) },
			func(s *fixture) { s.grouped(); s.kept(9); s.watch.Resized("web", 8, 9) }},
		"a group that grows while all pods run": {invariant.GroupGrows,
			func(s *fixture) { s.outlives(); s.watch.Resized("web", 0, 9) },
			func(s *fixture) {
				s.outlives()
				for i := range 3 {
					s.delete(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("p", i)}})
				}
				s.watch.Resized("web", 0, 3)
			}},
		"a group that grows twice for one pod": {invariant.GroupGrows,
			func(s *fixture) {
				s.outlives()
				s.pod("waits", "")
				s.watch.Resized("web", 0, 1)
				s.watch.Resized("web", 1, 2)
			},
			func(s *fixture) {
				s.outlives()
				s.pod("waits", "")
				s.watch.Resized("web", 0, 1)
				s.pass(time.Minute) // the first instance does not come
				s.watch.Resized("web", 1, 2)
			}},
		"a group that grows for pods of a node whose claim goes": {invariant.GroupGrows,
			func(s *fixture) { s.outlives(); s.watch.Resized("web", 0, 9) },
			func(s *fixture) { s.outlives(); s.delete(s.now("a")); s.watch.Resized("web", 0, 8) }},
		"a group that grows for pods of a node that is gone": {invariant.GroupGrows,
			func(s *fixture) { s.outlives(); s.watch.Resized("web", 0, 9) },
			func(s *fixture) {
				s.outlives()
				s.release(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}})
				s.delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}})
				s.watch.Resized("web", 0, 8)
			}},
		"a group that grows for pods that have yet to be made": {invariant.GroupGrows,
			func(s *fixture) { s.outlives(); s.set(3, "1"); s.watch.Resized("web", 0, 9) },
			func(s *fixture) { s.outlives(); s.set(6, "1"); s.watch.Resized("web", 0, 6) }},
		"an instance that ends under a pod": {invariant.GroupEnds,
			func(s *fixture) { s.grouped(); s.pod("p", "member"); s.watch.EndingMember("aws:///a/1") },
			func(s *fixture) { s.grouped(); s.pod("p", "member"); s.watch.EndingMember("aws:///a/2") }},
		"at rest, a disruption after a node of a group has joined": {invariant.RestDecided,
			func(s *fixture) {
				s.costing("a", 1)
				s.joins(s.second())
				s.late(func() { s.disrupts(plan.Underutilized, "late", []string{"a"}, nil) })
			},
			func(s *fixture) {
				s.costing("a", 1)
				node := s.second()
				s.late(func() { s.joins(node); s.disrupts(plan.Underutilized, "due", []string{"a"}, nil) })
			}},
		"at rest, a disruption after a group's backoff has ended": {invariant.RestDecided,
			func(s *fixture) {
				s.costing("a", 1)
				s.paused(30 * time.Minute)
				s.late(func() { s.disrupts(plan.Underutilized, "late", []string{"a"}, nil) })
			},
			func(s *fixture) {
				s.costing("a", 1)
				s.paused(59 * time.Minute)
				s.late(func() { s.disrupts(plan.Underutilized, "due", []string{"a"}, nil) })
			}},
		"at rest, an instance without a node": {invariant.GroupRests,
			func(s *fixture) { s.grouped(); s.rest() },
			func(s *fixture) { s.grouped(); s.second(); s.rest() }},
		"at rest, a group that has just grown": {invariant.GroupRests,
			func(s *fixture) { s.grouped(); s.watch.Resized("web", 1, 2); s.rest() },
			func(s *fixture) { s.grouped(); s.watch.Resized("web", 1, 2); s.watch.AtRest() }},
		"at rest, an instance whose node goes": {invariant.GroupRests,
			func(s *fixture) { s.second(); s.delete(s.grouped()); s.rest() },
			func(s *fixture) { s.second(); s.delete(s.grouped()); s.watch.AtRest() }},
	}
}
