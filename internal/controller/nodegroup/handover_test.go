package nodegroup_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/testing/harness"
)

// TestHandover: the condition says how far the hand-over of a group is, the scheduler avoids the nodes that are left, and both end with the
// mode.
func TestHandover(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	g := &groups{list: []cloud.Group{web(3)}}
	for i := range 3 {
		r.Must(r.API.Create(t.Context(), node(r, i, func(n *corev1.Node) { n.Spec.Taints = nil })))
	}
	check := func(when, condition string, tainted bool) {
		t.Helper()
		o := look(t, r, g, "web")
		got := status(o)["HandedOver"]
		for _, c := range o.Status.Conditions {
			if c.Type == "HandedOver" {
				got += ": " + c.Message
			}
		}
		if got != condition {
			t.Errorf("%s: %q, want %q", when, got, condition)
		}
		var n corev1.Node
		r.Get("node-2", &n)
		if is := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
			return t.Key == tenonv1alpha1.TaintHandover && t.Effect == "PreferNoSchedule"
		}); is != tainted {
			t.Errorf("%s: taints %v", when, n.Spec.Taints)
		}
		r.Calls()
		look(t, r, g, "web")
		if calls := r.Calls(); slices.ContainsFunc(calls, harness.Call.IsWrite) {
			t.Errorf("%s: the second look writes: %v", when, calls)
		}
	}
	change := func(do func(*tenonv1alpha1.NodeGroup)) {
		o := look(t, r, g, "web")
		do(o)
		r.Must(r.API.Update(t.Context(), o))
	}
	check("observed", "", false)
	change(func(o *tenonv1alpha1.NodeGroup) { o.Spec.Mode = tenonv1alpha1.ModeHandover })
	check("begun", "False Underway: 3 instances are left, 0 of them are being replaced", true)
	var first corev1.Node
	r.Get("node-0", &first)
	first.Annotations[karpenterv1.AnnotationDisruption] = "{}"
	r.Must(r.API.Update(t.Context(), &first))
	check("one is being replaced", "False Underway: 3 instances are left, 1 of them are being replaced", true)
	change(func(o *tenonv1alpha1.NodeGroup) {
		o.Annotations = map[string]string{tenonv1alpha1.AnnotationHandoverPaused: "true"}
	})
	check("paused", "False Paused: 3 instances are left, 1 of them are being replaced; remove the annotation tenon.sh/handover-paused to replace the others", true)
	g.list[0].Instances, g.list[0].Desired, g.list[0].Min = g.list[0].Instances[1:], 2, 2
	check("at the minimum", "False AtMinimum: 2 instances are left, 0 of them are being replaced; lower the group's minimum of 2 to replace them too", true)
	change(func(o *tenonv1alpha1.NodeGroup) { o.Spec.Mode = tenonv1alpha1.ModeNative })
	check("taken back", "", false)
	change(func(o *tenonv1alpha1.NodeGroup) { o.Spec.Mode = tenonv1alpha1.ModeHandover })
	g.list[0].Instances, g.list[0].Desired, g.list[0].Min = nil, 0, 0
	check("done", "True NoInstances: the group can be deleted where it was defined", false)
}
