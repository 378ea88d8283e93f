package invariant_test

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	group := cloud.Group{Name: "web", Max: 9, Desired: 2, Next: &cloud.GroupTemplate{Capacity: model.Resources{CPU: 4000}}}
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

// ended makes a claim whose machine has ended, which the product does not know yet.
func (s *fixture) ended() *karpenterv1.NodeClaim {
	s.t.Helper()
	claim, node := s.serve("a")
	claim.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}
	s.must(s.store.Status().Update(context.Background(), claim))
	s.cloud.Kill(node.Spec.ProviderID)
	return claim
}

// goes serves a node whose claim is being deleted, and lets time pass.
func (s *fixture) goes(since time.Duration) {
	s.t.Helper()
	claim, _ := s.serve("a")
	claim.Finalizers = append(claim.Finalizers, "karpenter.sh/termination")
	s.must(s.store.Update(context.Background(), claim))
	s.must(s.store.Delete(context.Background(), claim))
	s.pass(since)
}

// reached has the pool say that its limit is reached.
func (s *fixture) reached() {
	s.t.Helper()
	var pool karpenterv1.NodePool
	s.must(s.store.Get(context.Background(), client.ObjectKey{Name: "default"}, &pool))
	pool.Status.Conditions = []metav1.Condition{{
		Type: karpenterv1.ConditionLimitReached, Status: metav1.ConditionTrue, Reason: "LimitReached", LastTransitionTime: metav1.NewTime(s.clock.Now())}}
	s.must(s.store.Status().Update(context.Background(), &pool))
}

// paused makes a group that does not grow until some time after now.
func (s *fixture) paused(until time.Duration) {
	s.t.Helper()
	group := &tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	group.Spec.GroupName = "web"
	s.make(group)
	group.Status.Backoff = &tenonv1alpha1.NodeGroupBackoff{Failures: 1, Since: metav1.NewTime(s.clock.Now()), Until: metav1.NewTime(s.clock.Now().Add(until))}
	s.must(s.store.Status().Update(context.Background(), group))
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
			func(s *fixture) { s.most(1); s.grouped(); s.watch.Resized("web", 1, 2) },
			func(s *fixture) { s.most(1); s.grouped(); s.watch.Disturbed(); s.watch.Resized("web", 1, 2) }},
		"a node beyond the limit of the cluster, long after a group's size was changed": {invariant.ClusterLimits,
			func(s *fixture) { s.most(1); s.grouped(); s.watch.Disturbed(); s.pass(6 * time.Minute); s.serve("a") },
			func(s *fixture) {
				s.most(1)
				s.grouped()
				s.watch.Disturbed()
				s.watch.Jumped(6 * time.Minute)
				s.pass(6 * time.Minute)
				s.serve("a")
			}},
		"a group that shrinks below the minimum": {invariant.ClusterFloors,
			func(s *fixture) { s.shrinks(8_000) },
			func(s *fixture) { s.shrinks(4_000) }},
		"at rest, a pod that waits for what an ended machine had of a limit of the cluster": {invariant.RestRuns,
			func(s *fixture) { s.most(1); s.delete(s.ended()); s.pod("p", ""); s.rest() },
			func(s *fixture) { s.most(1); s.ended(); s.pod("p", ""); s.rest() }},
		"at rest, a pod that waits for what a node that has just begun to go had of a limit of the cluster": {invariant.RestRuns,
			func(s *fixture) { s.most(1); s.goes(10 * time.Minute); s.pod("p", ""); s.rest() },
			func(s *fixture) { s.most(1); s.pod("p", ""); s.pass(10 * time.Minute); s.goes(0); s.watch.AtRest() }},
		"at rest, a pod that waits for what an ended machine had of its pool's limit": {invariant.RestRuns,
			func(s *fixture) { s.limit("4"); s.reached(); s.delete(s.ended()); s.pod("p", ""); s.rest() },
			func(s *fixture) { s.limit("4"); s.reached(); s.ended(); s.pod("p", ""); s.rest() }},
		"at rest, a pod that waits for a group whose instances did not come": {invariant.RestRuns,
			func(s *fixture) { s.limit("4"); s.ended(); s.paused(-time.Hour); s.pod("p", ""); s.rest() },
			func(s *fixture) { s.limit("4"); s.ended(); s.paused(time.Hour); s.pod("p", ""); s.rest() }},
		"a group that shrinks while a node of a pool leaves": {invariant.ClusterFloors,
			func(s *fixture) { s.shrinks(8_000) },
			func(s *fixture) { s.shrinks(8_000, func() { s.delete(s.claim("a")) }) }},
	}
}
