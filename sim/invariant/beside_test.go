package invariant_test

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	karpenterv1 "tenon/api/karpenter/v1"
	"tenon/core/plan"
	"tenon/sim/invariant"
)

// roomy makes a node of four cores serve pods.
func (s *fixture) roomy(name string) *corev1.Node {
	s.t.Helper()
	_, node := s.serve(name)
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("10")}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	s.must(s.store.Status().Update(context.Background(), node))
	node.Spec.Taints = nil
	s.must(s.store.Update(context.Background(), node))
	s.clock.Step(45 * time.Second) // it boots
	s.cloud.Settle()
	return node
}

func asking(cpu string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

// bought is a claim with its machine.
func (s *fixture) bought(name string) {
	s.t.Helper()
	s.buy(name, string(s.claim(name).UID))
}

// beside makes a node with room for four cores, and then a node that is bought for pods that appear
// meanwhile.
func (s *fixture) beside(meanwhile func(node *corev1.Node)) {
	s.t.Helper()
	node := s.roomy("a")
	s.pass(3 * time.Minute)
	meanwhile(node)
	s.bought("b")
}

// set is a ReplicaSet that has yet to create a number of pods.
func (s *fixture) set(replicas int32, cpu string) {
	s.t.Helper()
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "image"}}}}
	asking(cpu)(pod)
	set.Spec.Replicas, set.Spec.Selector = ptr.To(replicas), &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	set.Spec.Template.Labels, set.Spec.Template.Spec = set.Spec.Selector.MatchLabels, pod.Spec
	s.make(set)
}

// besides are examples of nodes that are bought although there is room, or because there is none.
func besides() map[string]example {
	waits := func(s *fixture) func(*corev1.Node) {
		return func(*corev1.Node) { s.pod("p", "", asking("3")) }
	}
	breaks := func(s *fixture) { s.beside(waits(s)) }
	return map[string]example{
		"a node for a pod that has room": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.beside(func(*corev1.Node) { s.pod("p", "", asking("5")) })
		}},
		"a node for two pods that have room": {invariant.BesideRoom,
			func(s *fixture) {
				s.beside(func(*corev1.Node) { s.pod("p", "", asking("2")); s.pod("q", "", asking("2")) })
			},
			func(s *fixture) {
				s.beside(func(*corev1.Node) { s.pod("p", "", asking("3")); s.pod("q", "", asking("2")) })
			}},
		"a node for a buffer that has room": {invariant.BesideRoom,
			func(s *fixture) { s.beside(func(*corev1.Node) { s.buffer("1", "", "") }) },
			func(s *fixture) { s.beside(func(*corev1.Node) { s.buffer("3", "", "") }) }},
		"a node for a buffer that has room wherever a pod goes": {invariant.BesideRoom,
			func(s *fixture) {
				s.roomy("c")
				s.beside(func(*corev1.Node) { s.buffer("1", "", ""); s.pod("p", "", asking("2")) })
			},
			func(s *fixture) {
				s.roomy("c")
				s.beside(func(*corev1.Node) { s.buffer("2", "", ""); s.pod("p", "", asking("3")) })
			}},
		"a node for a buffer whose template has just been replaced": {invariant.BesideRoom,
			func(s *fixture) { s.beside(func(*corev1.Node) { s.buffer("1", "", "") }) },
			func(s *fixture) {
				s.beside(func(*corev1.Node) {
					before := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "spare"}}
					s.make(before)
					s.pass(time.Hour)
					s.delete(before)
					s.buffer("1", "", "")
				})
			}},
		"a node for pods that are announced and have room": {invariant.BesideRoom,
			func(s *fixture) { s.beside(func(*corev1.Node) { s.set(4, "1") }) },
			func(s *fixture) { s.beside(func(*corev1.Node) { s.set(5, "1") }) }},
		"a node beside one that has just become free": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.beside(func(node *corev1.Node) {
				before := s.pod("before", node.Name, asking("3"))
				s.pass(time.Hour)
				s.delete(before)
				s.pass(time.Minute)
				waits(s)(node)
			})
		}},
		"a node beside one that pods are not to use": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.beside(func(node *corev1.Node) {
				node.Spec.Unschedulable = true
				s.must(s.store.Update(context.Background(), node))
				s.pass(time.Hour)
				waits(s)(node)
			})
		}},
		"a node beside one that has just joined": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.pass(3 * time.Minute)
			waits(s)(s.roomy("a"))
			s.bought("b")
		}},
		"a node for a pod whose node begins to go": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.beside(func(node *corev1.Node) {
				s.pod("q", s.roomy("c").Name, asking("3"))
				waits(s)(node)
				s.delete(s.now("c"))
			})
		}},
		"a node in place of another": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.beside(func(node *corev1.Node) {
				waits(s)(node)
				c := s.claim("c")
				s.disrupts(plan.Drifted, "command", []string{"a"}, []string{"c"})
				s.buy("c", string(c.UID))
			})
		}},
		"a node for pods that look at others": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.beside(func(*corev1.Node) {
				s.pod("p", "", asking("3"), func(p *corev1.Pod) {
					p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone,
						WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels}}}
				})
			})
		}},
		"a node of a pool with a fixed number": {invariant.BesideRoom, breaks, func(s *fixture) {
			s.beside(func(node *corev1.Node) {
				waits(s)(node)
				pool := &karpenterv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "fixed"}}
				pool.Spec.Replicas = ptr.To(int64(1))
				pool.Spec.Template.Spec.NodeClassRef, pool.Spec.Template.Spec.Requirements = class(), amd64()
				s.make(pool)
				c := s.claim("fixed", func(c *karpenterv1.NodeClaim) { c.Labels[karpenterv1.LabelNodePool] = "fixed" })
				s.delete(s.pod("q", ""))
				s.buy("fixed", string(c.UID))
				s.pod("large", "", asking("5"))
			})
		}},
	}
}
