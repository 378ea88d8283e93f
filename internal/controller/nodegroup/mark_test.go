package nodegroup_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/controller/nodegroup"
	"tenon/internal/testing/harness"
)

// TestNodesAreMarked: nodes of a group that may be changed say so, those that have been Ready stay joined, and nothing is written on
// nodes of other groups, or again.
func TestNodesAreMarked(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	g := &groups{list: []cloud.Group{web(3)}}
	for i, change := range []func(*corev1.Node){nil, unready, func(n *corev1.Node) {
		unready(n)
		n.CreationTimestamp = metav1.NewTime(r.Clock.Now().Add(-15 * time.Minute))
	}, nil} {
		r.Must(r.API.Create(t.Context(), node(r, i, func(n *corev1.Node) {
			n.CreationTimestamp = metav1.NewTime(r.Clock.Now())
			if change != nil {
				change(n)
			}
		})))
	}
	marks := func(i int) string {
		var n corev1.Node
		r.Get([]string{"node-0", "node-1", "node-2", "node-3"}[i], &n)
		return n.Annotations[tenonv1alpha1.AnnotationGroup] + " " + n.Annotations[tenonv1alpha1.AnnotationJoined]
	}
	check := func(when string, want ...string) {
		t.Helper()
		for i := range want {
			if got := marks(i); got != want[i] {
				t.Errorf("%s: node %d has %q, want %q", when, i, got, want[i])
			}
		}
	}
	o := look(t, r, g, "web")
	check("observed", " ", " ", " ", " ")
	o.Spec.Mode = tenonv1alpha1.ModeNative
	r.Must(r.API.Update(t.Context(), o))
	look(t, r, g, "web")
	check("native", "web true", "web ", "web true", " ")
	r.Calls()
	look(t, r, g, "web")
	if calls := r.Calls(); slices.ContainsFunc(calls, harness.Call.IsWrite) {
		t.Errorf("the second look writes: %v", calls)
	}
	var first corev1.Node
	r.Get("node-0", &first)
	first.Status.Conditions[0].Status = corev1.ConditionFalse
	r.Must(r.API.Update(t.Context(), &first))
	g.list[0].Instances = g.list[0].Instances[:2]
	look(t, r, g, "web")
	check("one has left the group, and one is not Ready any more", "web true", "web ", " ", " ")
}

// TestALeavingNodeKeepsItsGroup: the group of a node is not removed if the node was deleted in the same moment, because the code that ends its instance
// needs the group.
func TestALeavingNodeKeepsItsGroup(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	g := &groups{list: []cloud.Group{web(1)}}
	r.Must(r.API.Create(t.Context(), node(r, 0, nil)))
	o := look(t, r, g, "web")
	o.Spec.Mode = tenonv1alpha1.ModeNative
	r.Must(r.API.Update(t.Context(), o))
	look(t, r, g, "web")
	g.list[0].Instances = nil
	var n corev1.Node
	r.Fail(func(c harness.Call) error {
		if r.Get("node-0", &n); c.Verb == "patch" && c.Kind == "Node" && n.DeletionTimestamp == nil {
			n.Finalizers = []string{karpenterv1.FinalizerTermination}
			r.Must(r.API.Update(t.Context(), &n))
			r.Must(r.API.Delete(t.Context(), &n))
		}
		return nil
	})
	look(t, r, g, "web")
	if r.Get("node-0", &n); n.DeletionTimestamp == nil || n.Annotations[tenonv1alpha1.AnnotationGroup] != "web" {
		t.Errorf("it was deleted %v, and has the annotations %v", n.DeletionTimestamp, n.Annotations)
	}
}

// TestStartsWithin: a node that is not Ready is to come for as long as the flag says, or the tag of its group.
func TestStartsWithin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		flag time.Duration
		tag  string
		want string
	}{
		"not yet": {want: ""}, "a flag": {flag: 4 * time.Minute, want: "true"}, "a tag": {flag: 4 * time.Minute, tag: "6m", want: ""}, "no time": {flag: 4 * time.Minute, tag: "soon", want: "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harness.New(t, memory.Options{})
			r.Kit.Settings.MaxNodeStartupTime = tc.flag
			g := &groups{list: []cloud.Group{web(1)}}
			if tc.tag != "" {
				g.list[0].Options = map[string]string{tenonv1alpha1.StartupTime: tc.tag}
			}
			r.Must(r.API.Create(t.Context(), node(r, 0, func(n *corev1.Node) {
				unready(n)
				n.CreationTimestamp = metav1.NewTime(r.Clock.Now().Add(-5 * time.Minute))
			})))
			o := look(t, r, g, "web")
			o.Spec.Mode = tenonv1alpha1.ModeNative
			r.Must(r.API.Update(t.Context(), o))
			look(t, r, g, "web")
			var n corev1.Node
			if r.Get("node-0", &n); n.Annotations[tenonv1alpha1.AnnotationJoined] != tc.want {
				t.Errorf("joined %q, want %q", n.Annotations[tenonv1alpha1.AnnotationJoined], tc.want)
			}
		})
	}
}

// TestAForeignSizeIsTold: a size that was not changed here is kept, and told on a group that may be changed; a process that looks for
// the first time does not blame others for what the one before it may have done.
func TestAForeignSizeIsTold(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	g := &groups{list: []cloud.Group{web(1)}}
	c := nodegroup.New(r.Kit, g)
	r.Run(c, "")
	g.list[0].Desired = 2
	r.Run(c, "")
	if events := r.Events(); len(events) != 0 {
		t.Errorf("events of an observed group: %q", events)
	}
	var o tenonv1alpha1.NodeGroup
	r.Get("web", &o)
	o.Spec.Mode = tenonv1alpha1.ModeNative
	r.Must(r.API.Update(t.Context(), &o))
	check := func(what, want string) {
		t.Helper()
		r.Run(c, "")
		r.Run(c, "")
		if events := r.Events(); len(events) == 0 || events[len(events)-1] != want {
			t.Errorf("%s: events %q, want the last to be %q", what, events, want)
		}
	}
	g.list[0].Desired = 4
	check("the process had looked before", "Normal SizeChanged web: The desired size was 2 and is 4 now: it was changed elsewhere, and is kept")
	g.list[0].Desired = 3
	c = nodegroup.New(r.Kit, g)
	check("its first look", "Normal SizeChanged web: The desired size was 4 and is 3 now: "+
		"it was changed elsewhere, or Tenon stopped while it changed the size, and is kept")
}

// TestForgedMembersAreInNoGroup: a node that says that it is in a group, without a provider ID or with that of a node that registered before, loses
// the annotation, and the group's own node keeps it.
func TestForgedMembersAreInNoGroup(t *testing.T) {
	t.Parallel()
	r := harness.New(t, memory.Options{})
	g := &groups{list: []cloud.Group{web(1)}}
	member := node(r, 0, func(n *corev1.Node) { n.CreationTimestamp = metav1.NewTime(r.Clock.Now().Add(-time.Hour)) })
	r.Must(r.API.Create(t.Context(), member))
	for name, id := range map[string]string{"a-forged": member.Spec.ProviderID, "z-forged": member.Spec.ProviderID, "a-without": "", "z-without": ""} {
		forged := node(r, 0, func(n *corev1.Node) {
			n.Name, n.Spec.ProviderID, n.CreationTimestamp = name, id, metav1.NewTime(r.Clock.Now())
			n.Annotations = map[string]string{tenonv1alpha1.AnnotationGroup: "web"}
		})
		r.Must(r.API.Create(t.Context(), forged))
	}
	o := look(t, r, g, "web")
	o.Spec.Mode = tenonv1alpha1.ModeNative
	r.Must(r.API.Update(t.Context(), o))
	look(t, r, g, "web")
	for name, want := range map[string]string{"node-0": "web", "a-forged": "", "z-forged": "", "a-without": "", "z-without": ""} {
		var n corev1.Node
		if r.Get(name, &n); n.Annotations[tenonv1alpha1.AnnotationGroup] != want {
			t.Errorf("%s is in group %q, want %q", name, n.Annotations[tenonv1alpha1.AnnotationGroup], want)
		}
	}
}
