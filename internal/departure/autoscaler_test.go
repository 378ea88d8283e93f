package departure_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/internal/departure"
	"tenon/internal/settings"
)

// autoscaled is a node that is removed by the rules of Cluster Autoscaler, with the record of its
// disruption.
func autoscaled(record string) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{karpenterv1.AnnotationDisruption: record}}}
	node.Spec.Taints = []corev1.Taint{{Key: tenonv1alpha1.TaintToBeDeleted, Effect: corev1.TaintEffectNoSchedule}}
	return node
}

// Pods of DaemonSets leave nodes that had other pods, and stay on empty ones, unless flags or their annotation say otherwise.
func TestDaemonsLeave(t *testing.T) {
	t.Parallel()
	usual := settings.GroupDrain{DaemonsOfOccupied: true}
	empty, occupied := autoscaled(`{"id": "1"}`), autoscaled(`{"id": "1", "evictions": 2}`)
	for name, tc := range map[string]struct {
		node  *corev1.Node
		rules settings.GroupDrain
		said  string
		plain bool
		stays bool
	}{
		"of an empty node":           {node: empty, rules: usual, stays: true},
		"of an occupied node":        {node: occupied, rules: usual},
		"of an empty node, by flag":  {node: empty, rules: settings.GroupDrain{DaemonsOfEmpty: true}},
		"of an occupied, by flag":    {node: occupied, stays: true},
		"of an empty node, by pod":   {node: empty, rules: usual, said: "true"},
		"of an occupied, by pod":     {node: occupied, rules: usual, said: "false", stays: true},
		"said in another way":        {node: occupied, rules: usual, said: "False"},
		"another pod":                {node: empty, rules: usual, said: "false", plain: true},
		"of a node of another group": {node: &corev1.Node{}, said: "false"},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "agent", OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Controller: new(true)}}}}
		if tc.plain {
			pod.OwnerReferences = nil
		}
		if tc.said != "" {
			pod.Annotations = map[string]string{departure.AnnotationDaemonEviction: tc.said}
		}
		d := departure.Departure{Node: tc.node}
		d.Heed(tc.rules)
		if got := d.State.Stays != nil && d.State.Stays(pod); got != tc.stays {
			t.Errorf("%s: stays %t, want %t", name, got, tc.stays)
		}
	}
}

// The grace period of a pod is at most the flag's.
func TestGraceIsBounded(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		node      *corev1.Node
		own, most int64
		want      int64 // 0 means the pod's own
	}{
		"longer":                     {autoscaled(""), 3600, 600, 600},
		"shorter":                    {autoscaled(""), 30, 600, 0},
		"without a bound":            {autoscaled(""), 3600, 0, 0},
		"of a node of another group": {&corev1.Node{}, 3600, 600, 0},
	} {
		d := departure.Departure{Node: tc.node}
		got := d.Grace(&corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: &tc.own}}, settings.GroupDrain{MaxGraceSeconds: int(tc.most)})
		if (got == nil) != (tc.want == 0) || got != nil && *got != tc.want {
			t.Errorf("%s: %v, want %d", name, got, tc.want)
		}
	}
}

// With priorities the grace period of a pod is at most that of the highest priority that it reaches.
func TestGraceIsBoundedByPriority(t *testing.T) {
	t.Parallel()
	d := departure.Departure{Node: autoscaled("")}
	rules := settings.GroupDrain{MaxGraceSeconds: 600, Priorities: []settings.DrainPriority{{Priority: 0, GraceSeconds: 120}, {Priority: 1000, GraceSeconds: 20}}}
	d.Heed(rules)
	for priority, want := range map[int32]int64{-1: 120, 0: 120, 999: 120, 1000: 20, 2000: 20} {
		own := int64(900)
		got := d.Grace(&corev1.Pod{Spec: corev1.PodSpec{Priority: &priority, TerminationGracePeriodSeconds: &own}}, rules)
		if got == nil || *got != want {
			t.Errorf("priority %d: %v, want %d", priority, got, want)
		}
	}
}
