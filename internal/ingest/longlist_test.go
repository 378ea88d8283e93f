package ingest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"tenon/core/decide"
	"tenon/internal/ingest"
)

// These tests take the part of a tenant who may create pods, and makes one as large as the API server
// accepts. SECURITY.md says what such a tenant cannot do.

// longest is how many entries of a list are considered.
const longest = 500

// longLists give a pod one list with n entries.
var longLists = map[string]struct {
	change  func(p *corev1.Pod, n int)
	field   string // that the reason names, "" if the list has no bound
	refused bool   // at the bound too, for another reason
}{
	"required affinity to pods": {func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(n, corev1.LabelTopologyZone)}}
	}, "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution", false},
	"required affinity to pods of the node": {func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(n, corev1.LabelHostname)}}
	}, "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution", false},
	"preferred affinity to pods": {func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted(podTerms(n, corev1.LabelTopologyZone))}}
	}, "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution", false},
	"required anti-affinity": {func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(n, corev1.LabelHostname)}}
	}, "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution", false},
	"preferred anti-affinity": {func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: weighted(podTerms(n, corev1.LabelTopologyZone))}}
	}, "spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution", false},
	"spreads": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: fmt.Sprint("key-", i), WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: picks(i)})
		}
	}, "spec.topologySpreadConstraints", false},
	"tolerations": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.Tolerations = append(p.Spec.Tolerations, corev1.Toleration{Key: fmt.Sprint("key-", i), Operator: corev1.TolerationOpExists})
		}
	}, "spec.tolerations", false},
	"node selector": {func(p *corev1.Pod, n int) {
		p.Spec.NodeSelector = map[string]string{}
		for i := range n {
			p.Spec.NodeSelector[fmt.Sprint("example.com/key-", i)] = "value"
		}
	}, "spec.nodeSelector", false},
	"node selector terms": {func(p *corev1.Pod, n int) {
		required := &corev1.NodeSelector{}
		for _, e := range expressions(n) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}})
		}
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
	}, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", false},
	"expressions of a term": {func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: expressions(n)}}}}}
	}, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", false},
	"preferred terms": {func(p *corev1.Pod, n int) {
		p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}}
		for _, e := range expressions(n) {
			p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
				corev1.PreferredSchedulingTerm{Weight: 1, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{e}}})
		}
	}, "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution", false},
	"host ports": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.Containers[0].Ports = append(p.Spec.Containers[0].Ports, corev1.ContainerPort{HostPort: int32(i + 1), ContainerPort: int32(i + 1)})
		}
	}, "the host ports", false},
	"volumes with claims": {func(p *corev1.Pod, n int) {
		for i := range n {
			name := fmt.Sprint("volume-", i)
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}})
		}
	}, "spec.volumes", true},
	"volumes of the node": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("volume-", i), VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		}
	}, "", false},
	"containers": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: fmt.Sprint("container-", i)})
		}
	}, "", false},
	"resources": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceName(fmt.Sprint("example.com/device-", i))] = resource.MustParse("1")
		}
	}, "", false},
	"owners": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: types.UID(fmt.Sprint(i))})
		}
	}, "", false},
	"labels": {func(p *corev1.Pod, n int) {
		for i := range n {
			p.Labels[fmt.Sprint("key-", i)] = "value"
		}
	}, "", false},
	"namespaces of a term": {func(p *corev1.Pod, n int) {
		term := podTerms(1, corev1.LabelTopologyZone)[0]
		for i := range n {
			term.Namespaces = append(term.Namespaces, fmt.Sprint("namespace-", i))
		}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
	}, "", false},
}

func picks(i int) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"role": fmt.Sprint("role-", i)}}
}

func podTerms(n int, key string) []corev1.PodAffinityTerm {
	out := make([]corev1.PodAffinityTerm, n)
	for i := range out {
		out[i] = corev1.PodAffinityTerm{LabelSelector: picks(i), TopologyKey: key}
	}
	return out
}

func weighted(terms []corev1.PodAffinityTerm) []corev1.WeightedPodAffinityTerm {
	out := make([]corev1.WeightedPodAffinityTerm, len(terms))
	for i := range out {
		out[i] = corev1.WeightedPodAffinityTerm{Weight: 1, PodAffinityTerm: terms[i]}
	}
	return out
}

func expressions(n int) []corev1.NodeSelectorRequirement {
	out := make([]corev1.NodeSelectorRequirement, n)
	for i := range out {
		out[i] = corev1.NodeSelectorRequirement{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpNotIn, Values: []string{fmt.Sprint("zone-", i)}}
	}
	return out
}

// TestALongListHoldsUpNoOtherPod checks that a pod with a list of 5,000 entries costs a decision little (before
// there was a bound, 4,000 terms of affinity took more than four minutes), that the pod is told which list is too
// long, and that the other pods, which are like it but for the list, get their nodes. A list at the bound is
// no reason to refuse a pod.
func TestALongListHoldsUpNoOtherPod(t *testing.T) {
	t.Parallel()
	for name, list := range longLists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{longest, 10 * longest} {
				all := objects(t, aPool("default", ""))
				for i := range 20 {
					all.Pods = append(all.Pods, waitingPod(fmt.Sprint("web-", i)))
				}
				odd := waitingPod("odd")
				list.change(odd, n)
				all.Pods = slices.Insert(all.Pods, 0, odd)
				s := ingest.Build(all, fromFiles(t))
				placed := map[string]bool{}
				for _, claim := range decide.Decide(s, decide.Budget{}).Plan.Claims {
					for _, pod := range claim.Pods {
						placed[s.Pods[pod].Name] = true
					}
				}
				for i := range s.Pods {
					pod := &s.Pods[i]
					refused := pod.Refused.Text()
					if pod.Name != "odd" {
						if refused != "" || !placed[pod.Name] {
							t.Errorf("%d entries: pod %s has no node: %q", n, pod.Name, refused)
						}
						continue
					}
					want := list.field
					if n <= longest {
						want = ""
					}
					if !list.refused && (refused != "") != (want != "") || !strings.Contains(refused, want) {
						t.Errorf("%d entries: refused because of %.200q, want a reason with %q", n, refused, want)
					}
				}
			}
		})
	}
}

// TestALongListOfARunningPodKeepsOthersAway checks that required anti-affinity counts in whole once a pod runs:
// kube-scheduler lets the pods that it names to no node of the zone.
func TestALongListOfARunningPodKeepsOthersAway(t *testing.T) {
	t.Parallel()
	odd := waitingPod("odd")
	odd.Spec.NodeName = "node-1"
	odd.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: podTerms(3*longest, corev1.LabelTopologyZone)}}
	odd.Status = corev1.PodStatus{Phase: corev1.PodRunning}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	s := ingest.Build(&ingest.Objects{Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{odd}}, fromFiles(t))
	if got := len(s.Templates[s.Pods[0].Template].AntiAffinity); got != 3*longest {
		t.Errorf("%d terms count, want all %d", got, 3*longest)
	}
}

// TestARunningPodWithALongListHoldsUpNoOtherPod checks that 20,000 terms of anti-affinity of a running pod cost a decision
// little (they took most of a minute), and that pods which they pick do not get the pod's node.
func TestARunningPodWithALongListHoldsUpNoOtherPod(t *testing.T) {
	t.Parallel()
	terms := map[string]func(i int) *metav1.LabelSelector{
		"terms about nothing": picks,
		"terms about all pods": func(i int) *metav1.LabelSelector {
			return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "role", Operator: metav1.LabelSelectorOpNotIn, Values: []string{fmt.Sprint("role-", i)}}}}
		},
	}
	for name, selector := range terms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			odd := waitingPod("odd")
			odd.Spec.NodeName, odd.Status = "node-1", corev1.PodStatus{Phase: corev1.PodRunning}
			var list []corev1.PodAffinityTerm
			for i := range 20_000 {
				list = append(list, corev1.PodAffinityTerm{LabelSelector: selector(i), TopologyKey: corev1.LabelHostname})
			}
			odd.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: list}}
			all := objects(t, aPool("default", ""))
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{corev1.LabelHostname: "node-1"}}}
			node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourcePods: resource.MustParse("10")}
			all.Nodes, all.Pods = append(all.Nodes, node), append(all.Pods, odd)
			for i := range 100 {
				all.Pods = append(all.Pods, waitingPod(fmt.Sprint("web-", i)))
			}
			plan := decide.Decide(ingest.Build(all, fromFiles(t)), decide.Budget{}).Plan
			want := 3 // of half a core, beside the odd pod
			if name == "terms about all pods" {
				want = 0
			}
			got := 0
			for _, placement := range plan.Existing {
				got += len(placement.Pods)
			}
			if len(plan.Unplaced) > 0 || got != want {
				t.Errorf("%d pods have no place and %d the node that runs, want none and %d", len(plan.Unplaced), got, want)
			}
		})
	}
}

// waitingPod is a pod of half a core that waits for a node.
func waitingPod(name string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID(name), Labels: map[string]string{"role": "web"}}}
	p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}}}}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
	return p
}
