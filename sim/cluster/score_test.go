package cluster

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The scores are those of the default profile of kube-scheduler 1.36, calculated by hand for nodes
// of four cores and eight gibibytes.
func TestScores(t *testing.T) {
	t.Parallel()
	asking := func(cpu, memory string) *corev1.Pod {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": "web"}}}
		requests := corev1.ResourceList{}
		for name, text := range map[corev1.ResourceName]string{corev1.ResourceCPU: cpu, corev1.ResourceMemory: memory} {
			if text != "" {
				requests[name] = resource.MustParse(text)
			}
		}
		pod.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}
		return pod
	}
	preferring := func(labels ...string) *corev1.Pod {
		pod := asking("1", "2Gi")
		var terms []corev1.PreferredSchedulingTerm
		for i, label := range labels {
			terms = append(terms, corev1.PreferredSchedulingTerm{Weight: int32(i + 1), Preference: corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{{Key: label, Operator: corev1.NodeSelectorOpExists}}}})
		}
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: terms}}
		return pod
	}
	spreading := func(keys ...string) *corev1.Pod {
		pod := asking("1", "2Gi")
		for _, key := range keys {
			pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, corev1.TopologySpreadConstraint{
				MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: pod.Labels}})
		}
		return pod
	}
	type node struct {
		labels []string // as zone=a
		taints int
		pods   []*corev1.Pod
	}
	cases := map[string]struct {
		pod   *corev1.Pod
		nodes []node
		want  []int64
	}{
		// Emptiness 75 and (25+72)/2; balance 75 each, as nothing becomes more or less even; no taints.
		"what is left": {asking("1", "2Gi"), []node{{}, {pods: []*corev1.Pod{asking("2", "")}}}, []int64{75 + 75 + 300, 48 + 75 + 300}},
		// Emptiness (50+97)/2 and (50+50)/2; evenness falls from 100 to 75, and rises from 75 to 100.
		"what becomes even":                    {asking("2", ""), []node{{}, {pods: []*corev1.Pod{asking("", "4Gi")}}}, []int64{73 + 62 + 300, (47+47)/2 + 87 + 300}},
		"what asks for nothing has no balance": {asking("", ""), []node{{}, {pods: []*corev1.Pod{asking("2", "")}}}, []int64{97 + 300, (47+95)/2 + 300}},
		"taints are counted":                   {asking("1", "2Gi"), []node{{}, {taints: 1}, {taints: 4}}, []int64{150 + 300, 150 + 225, 150}},
		"preferences are shares of the most":   {preferring("disk", "gpu"), []node{{labels: []string{"disk="}}, {labels: []string{"gpu="}}, {}}, []int64{450 + 100, 450 + 200, 450}},
		// Two pods of the app in one zone and none in the other: round(2·ln 4) is 3, of which the least is 0.
		"zones with fewer pods":         {spreading("zone"), []node{{labels: []string{"zone=a"}, pods: []*corev1.Pod{asking("1", "2Gi"), asking("1", "2Gi")}}, {labels: []string{"zone=b"}}}, []int64{25 + 75 + 300, 450 + 200}},
		"without a label that it names": {spreading("zone"), []node{{}, {labels: []string{"zone=b"}}}, []int64{450, 450 + 200}},
		"an only node is not compared":  {asking("1", "2Gi"), []node{{taints: 1}}, []int64{0}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &Cluster{nodes: newNodeIndex(), queue: queue{}, nominated: newNominations()}
			for i, n := range tc.nodes {
				c.nodes.open(made(i, n.labels, n.taints))
				for j, pod := range n.pods {
					placed := pod.DeepCopy()
					placed.Name, placed.Spec.NodeName = string(rune('a'+j)), string(rune('a'+i))
					c.nodes.enter(newPlacedPod(placed))
				}
			}
			if got := newAsk(c, tc.pod).scores(c.nodes.rooms); !slices.Equal(got, tc.want) {
				t.Errorf("scores %v, want %v", got, tc.want)
			}
		})
	}
}

// made is the node with a number, with labels such as zone=a, and taints that prefer no pods.
func made(i int, labels []string, taints int) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: string(rune('a' + i)), Labels: map[string]string{}}}
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		node.Labels[key] = value
	}
	for n := range taints {
		node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: string(rune('a' + n)), Effect: corev1.TaintEffectPreferNoSchedule})
	}
	node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("100")}
	return node
}
