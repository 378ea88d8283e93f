package nodegroup_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

// Taints that a Cluster Autoscaler has left are removed once it does not run any more: those of removals that nothing goes on with,
// and those of candidates where the group is not in mode cas. "ClusterAutoscalerCleanup" tells of it.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	old, young := 6*time.Minute, 4*time.Minute
	cases := map[string]struct {
		mode    tenonv1alpha1.Mode
		taint   string
		age     time.Duration
		change  func(*corev1.Node)
		objects []client.Object
		removed bool
	}{
		"an unfinished removal":       {mode: tenonv1alpha1.ModeCAS, taint: tenonv1alpha1.TaintToBeDeleted, age: old, removed: true},
		"one that may go on":          {mode: tenonv1alpha1.ModeCAS, taint: tenonv1alpha1.TaintToBeDeleted, age: young},
		"in mode observe":             {mode: tenonv1alpha1.ModeObserve, taint: tenonv1alpha1.TaintToBeDeleted, age: old},
		"beside a Cluster Autoscaler": {mode: tenonv1alpha1.ModeCAS, taint: tenonv1alpha1.TaintToBeDeleted, age: old, objects: []client.Object{autoscaler(1, "cluster-autoscaler:v1")}},
		"a candidate in mode native":  {mode: tenonv1alpha1.ModeNative, taint: tenonv1alpha1.TaintCandidate, age: young, removed: true},
		"a candidate in mode cas":     {mode: tenonv1alpha1.ModeCAS, taint: tenonv1alpha1.TaintCandidate, age: old},
		"a removal that Tenon has recorded": {mode: tenonv1alpha1.ModeCAS, taint: tenonv1alpha1.TaintToBeDeleted, age: old, change: func(n *corev1.Node) {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, karpenterv1.AnnotationDisruption, "{}")
		}},
		"a removal that Tenon has begun":     {mode: tenonv1alpha1.ModeCAS, taint: tenonv1alpha1.TaintToBeDeleted, age: old, change: func(n *corev1.Node) { n.Spec.Taints = append(n.Spec.Taints, karpenterv1.TaintDisrupted()) }},
		"a value that is no time is no sign": {mode: tenonv1alpha1.ModeNative, taint: tenonv1alpha1.TaintToBeDeleted, change: func(n *corev1.Node) { n.Spec.Taints[len(n.Spec.Taints)-1].Value = "soon" }, removed: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{}, append(tc.objects,
				&tenonv1alpha1.NodeGroup{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "web", Mode: tc.mode}})...)
			r.Must(r.API.Create(t.Context(), node(r, 0, func(n *corev1.Node) {
				n.Spec.Unschedulable = true
				n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: tc.taint, Value: fmt.Sprint(r.Clock.Now().Add(-tc.age).Unix()), Effect: corev1.TaintEffectNoSchedule})
				if tc.change != nil {
					tc.change(n)
				}
			})))
			g := &groups{list: []cloud.Group{web(1)}}
			look(t, r, g, "web")
			look(t, r, g, "web")
			var n corev1.Node
			r.Get("node-0", &n)
			removed := !slices.ContainsFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == tc.taint })
			if removed != tc.removed || n.Spec.Unschedulable == (removed && tc.taint == tenonv1alpha1.TaintToBeDeleted) {
				t.Errorf("removed: %t, want %t; cordoned: %t", removed, tc.removed, n.Spec.Unschedulable)
			}
			if told := slices.ContainsFunc(r.Events(), func(e string) bool { return strings.Contains(e, "ClusterAutoscalerCleanup") }); told != tc.removed {
				t.Errorf("an event: %t", told)
			}
		})
	}
}
