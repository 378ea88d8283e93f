package invariant_test

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	autoscalingv1beta1 "tenon/api/autoscaling/v1beta1"
	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/sim/invariant"
)

// buffer is a buffer for two pods that says whether it has room, or why not.
func (s *fixture) buffer(cpu, says, why string) {
	s.t.Helper()
	key := metav1.ObjectMeta{Namespace: "default", Name: "spare"}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}}}
	asking(cpu)(pod)
	s.make(&corev1.PodTemplate{ObjectMeta: key, Template: corev1.PodTemplateSpec{Spec: pod.Spec}})
	b := &autoscalingv1beta1.CapacityBuffer{ObjectMeta: key}
	b.Spec.Replicas, b.Spec.PodTemplateRef = ptr.To(int32(2)), &autoscalingv1beta1.LocalObjectRef{Name: key.Name}
	s.make(b)
	if says == "" {
		return
	}
	b.Status.Conditions = []metav1.Condition{{Type: autoscalingv1beta1.ConditionProvisioning, Status: metav1.ConditionStatus(says), Reason: "Because", Message: why, LastTransitionTime: metav1.NewTime(s.clock.Now())}}
	s.must(s.store.Status().Update(context.Background(), b))
}

// waitsBesideBuffer has a pod wait for an hour beside a buffer that says that it has room.
func (s *fixture) waitsBesideBuffer() {
	s.t.Helper()
	s.buffer("1", "True", "All 2 virtual pods fit on existing capacity")
	s.pod("waits", "", asking("1"))
	s.pass(time.Hour)
	s.watch.AtRest()
}

// illNode is a node that has joined, and is no longer ready.
func (s *fixture) illNode(name string) {
	s.t.Helper()
	node := s.roomy(name)
	node.Status.Conditions[0].Status = corev1.ConditionUnknown
	s.must(s.store.Status().Update(context.Background(), node))
}

// buffered are examples of conditions of buffers, and of pods that wait beside them.
func buffered() map[string]example {
	says := func(cpu, says, why string) func(*fixture) {
		return func(s *fixture) {
			s.roomy("a")
			s.buffer(cpu, says, why)
			s.rest()
		}
	}
	waits := func(used bool, daemon ...func(*corev1.Pod)) func(*fixture) {
		return func(s *fixture) {
			s.limit("8")
			node := s.roomy("a")
			if used {
				s.pod("runs", node.Name, asking("1"))
			}
			s.pod("agent", node.Name, append(daemon, func(p *corev1.Pod) {
				p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent", UID: "agent"}}
			})...)
			s.waitsBesideBuffer()
		}
	}
	// A node of which the pool may have one only is empty. It may go, unless it is not ready, which uses up the budget.
	full := func(ill bool) func(*fixture) {
		return func(s *fixture) {
			s.limit("100")
			s.pace()
			if ill {
				s.illNode("a")
			} else {
				s.roomy("a")
			}
			s.most(1)
			s.waitsBesideBuffer()
		}
	}
	// A pod for 200 cores waits for a pool that may have 100 or, without a limit, any number of them.
	awaits := func(limited bool) func(*fixture) {
		return func(s *fixture) {
			if limited {
				s.limit("100")
			}
			s.roomy("a")
			s.buffer("3", "False", "0/2 virtual pods required new capacity, 2 failed: pool default: pods wait for what its limits leave")
			s.pod("waits", "", asking("200"))
			s.pass(time.Hour)
			s.watch.AtRest()
		}
	}
	const lacks = "0/2 virtual pods required new capacity, 2 failed: pool default: all available instance types exceed limits"
	return map[string]example{
		"at rest, a buffer that says nothing":             {invariant.RestBuffers, says("1", "", ""), says("1", "True", "All fit")},
		"at rest, a buffer that has not the room it says": {invariant.RestBuffers, says("3", "True", "All fit"), says("2", "True", "All fit")},
		"at rest, a buffer that has its room on a node whose claim a user edited": {invariant.RestBuffers, says("3", "True", "All fit"), func(s *fixture) {
			s.watch.Meddled = func(string) bool { return true }
			says("2", "True", "All fit")(s)
		}},
		"at rest, a buffer without room and limit":         {invariant.RestBuffers, says("3", "False", lacks), says("1", "True", "All fit")},
		"at rest, a buffer without room and awaited limit": {invariant.RestBuffers, awaits(false), awaits(true)},
		"at rest, a pod beside a node without pods":        {invariant.RestYields, waits(false), waits(true)},
		"at rest, a pod beside a node that the budget of its pool keeps": {invariant.RestYields, waits(false), func(s *fixture) {
			s.pace()
			s.illNode("b")
			waits(false)(s)
		}},
		"at rest, a pod beside a node that a daemon's pod holds": {invariant.RestYields, waits(false), func(s *fixture) {
			waits(false, func(p *corev1.Pod) { p.Annotations = map[string]string{karpenterv1.AnnotationDoNotDisrupt: "true"} })(s)
		}},
		"at rest, a pod that waits for the number of nodes, beside one that a budget keeps": {invariant.RestYields, full(false), full(true)},
	}
}
