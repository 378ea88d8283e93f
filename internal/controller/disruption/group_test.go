package disruption_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/core/reason"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/testing/harness"
)

// group is a group in mode native whose nodes may all be removed at once, down to its minimum.
func group(floor, desired int64, change ...func(*tenonv1alpha1.NodeGroup)) *tenonv1alpha1.NodeGroup {
	room := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("58")}
	g := &tenonv1alpha1.NodeGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{
			GroupName: "Web", Mode: tenonv1alpha1.ModeNative,
			Disruption: &karpenterv1.Disruption{ConsolidateAfter: karpenterv1.DurationOf(time.Minute), Budgets: []karpenterv1.Budget{{Nodes: "100%"}}},
		},
		Status: tenonv1alpha1.NodeGroupStatus{
			Size: &tenonv1alpha1.NodeGroupSize{Min: floor, Max: 9, Desired: desired}, Instances: &tenonv1alpha1.NodeGroupInstances{Total: desired, Ready: desired},
			InstanceTypes: []string{"m5.xlarge"}, Zones: []string{"a"}, Price: &tenonv1alpha1.NodeGroupPrice{PerNode: "0.192"},
			Template: &tenonv1alpha1.NodeGroupTemplate{Capacity: room, Allocatable: room},
		},
	}
	for _, c := range []string{tenonv1alpha1.ConditionGroupFound, tenonv1alpha1.ConditionSupported, tenonv1alpha1.ConditionTemplateKnown, tenonv1alpha1.ConditionHealthy} {
		g.Status.Conditions = append(g.Status.Conditions, metav1.Condition{Type: c, Status: metav1.ConditionTrue, Reason: c})
	}
	g.Status.Conditions = append(g.Status.Conditions, metav1.Condition{Type: tenonv1alpha1.ConditionForeignAutoscaler, Status: metav1.ConditionFalse, Reason: "NoneSeen"})
	for _, c := range change {
		c(g)
	}
	return g
}

// grouped is a fixture with a group and its nodes, each with a number of pods.
func grouped(t *testing.T, object *tenonv1alpha1.NodeGroup, pods ...int) *fixture {
	t.Helper()
	h := newFixture(t, object)
	h.Kit.Groups = memory.NewGroups(cloud.Group{Name: "Web", Min: object.Status.Size.Min, Max: 9, Desired: object.Status.Size.Desired, Types: []string{"m5.xlarge"}, Zones: []string{"a"}})
	at := metav1.NewTime(h.Clock.Now().Add(-time.Hour))
	for i, n := range pods {
		name := fmt.Sprintf("n%d", i)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name), CreationTimestamp: at,
			Annotations: map[string]string{tenonv1alpha1.AnnotationGroup: "web", tenonv1alpha1.AnnotationJoined: "true"},
			Labels:      map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: "a", corev1.LabelInstanceTypeStable: "m5.xlarge"},
		}, Spec: corev1.NodeSpec{ProviderID: "memory:///a/" + name}}
		harness.Ready(node)
		node.Status.Capacity = object.Status.Template.Capacity.DeepCopy()
		node.Status.Allocatable = node.Status.Capacity.DeepCopy()
		h.Must(h.API.Create(context.Background(), node))
		for k := range n {
			h.pod(fmt.Sprintf("%s-%d", name, k), name)
		}
	}
	h.start()
	return h
}

// nodes describes the marks and pods of the nodes.
func (h *fixture) nodes() string {
	h.t.Helper()
	var list corev1.NodeList
	h.Must(h.API.List(context.Background(), &list))
	var out []string
	for i := range list.Items {
		n := &list.Items[i]
		text := n.Name
		if n.DeletionTimestamp != nil {
			text += " deleted"
		}
		if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == karpenterv1.TaintDisrupted().Key }) {
			text += " closed"
		}
		if n.Annotations[karpenterv1.AnnotationDisruption] != "" {
			text += " recorded"
		}
		if n.Annotations[ingest.AnnotationRearranged] != "" {
			text += " rearranged"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// handover has the nodes of a group replaced, and removes none to save money.
func handover(g *tenonv1alpha1.NodeGroup) {
	g.Spec.Mode, g.Spec.Disruption.ConsolidateAfter = tenonv1alpha1.ModeHandover, karpenterv1.NillableDuration{}
}

// TestNodesOfAGroupGo: nodes are closed first and deleted once nothing keeps them, down to the group's minimum, or not at
// all if the group may not be changed.
func TestNodesOfAGroupGo(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		group *tenonv1alpha1.NodeGroup
		pods  []int
		first string // the expected marks while they are only closed
		want  string
	}{
		"empty ones":        {group(0, 3), []int{3, 0, 0}, "n0, n1 closed recorded, n2 closed recorded", "n0, n1 deleted closed recorded, n2 deleted closed recorded"},
		"down to the floor": {group(2, 3), []int{3, 0, 0}, "n0, n1 closed recorded, n2", "n0, n1 deleted closed recorded, n2"},
		"one into another":  {group(0, 2), []int{2, 1}, "n0, n1 closed recorded", "n0 rearranged, n1 deleted closed recorded"},
		"handed over":       {group(0, 2, handover), []int{3, 0}, "n0, n1 closed recorded", "n0, n1 deleted closed recorded"}, // no pool can replace n0
		"and paused": {group(0, 2, handover, func(g *tenonv1alpha1.NodeGroup) {
			g.Annotations = map[string]string{tenonv1alpha1.AnnotationHandoverPaused: "true"}
		}), []int{3, 0}, "n0, n1", "n0, n1"},
		"in mode observe":    {group(0, 2, func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode = tenonv1alpha1.ModeObserve }), []int{2, 0}, "n0, n1", "n0, n1"},
		"beside another one": {group(0, 2, func(g *tenonv1alpha1.NodeGroup) { g.Status.Conditions = g.Status.Conditions[:4] }), []int{2, 0}, "n0, n1", "n0, n1"},
		"with a budget": {group(0, 3, func(g *tenonv1alpha1.NodeGroup) { g.Spec.Disruption.Budgets[0].Nodes = "1" }), []int{3, 0, 0},
			"n0, n1 closed recorded, n2", "n0, n1 deleted closed recorded, n2"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := grouped(t, tc.group, tc.pods...)
			h.pass(time.Second)
			if got := h.nodes(); got != tc.first {
				t.Errorf("first: %s, want %s", got, tc.first)
			}
			h.pass(10 * time.Second)
			if got := h.nodes(); got != tc.want {
				t.Errorf("then: %s, want %s", got, tc.want)
			}
		})
	}
}

// TestNodesOfAGroupInModeCASGo: a pod holds its node by the rules of Cluster Autoscaler, as the flags choose them, at the
// decision and at the second look; in mode native such a pod holds nothing.
func TestNodesOfAGroupInModeCASGo(t *testing.T) {
	t.Parallel()
	const safe = "cluster-autoscaler.kubernetes.io/safe-to-evict"
	bare := func(p *corev1.Pod) { p.OwnerReferences = nil }
	scratch := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	}
	annotated := func(value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{safe: value} }
	}
	cas := func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode = tenonv1alpha1.ModeCAS }
	const goes = "n1 deleted closed recorded"
	cases := map[string]struct {
		pod   []func(*corev1.Pod)
		mode  func(*tenonv1alpha1.NodeGroup)
		rules snapshot.DrainRules
		late  bool // the pod becomes so after the node was closed
		want  string
		why   reason.Code
	}{
		"a replica":                        {mode: cas, want: goes},
		"a bare pod":                       {pod: []func(*corev1.Pod){bare}, mode: cas, want: "n1", why: reason.NotReplicated},
		"a bare pod in mode native":        {pod: []func(*corev1.Pod){bare}, want: goes},
		"a bare pod that is safe to evict": {pod: []func(*corev1.Pod){bare, annotated("true")}, mode: cas, want: goes},
		"a pod that is not":                {pod: []func(*corev1.Pod){annotated("false")}, mode: cas, want: "n1", why: reason.NotSafeToEvictAnnotation},
		"a pod that is not, mode native":   {pod: []func(*corev1.Pod){annotated("false")}, want: "n1", why: reason.NotSafeToEvictAnnotation},
		"a pod that has to end":            {pod: []func(*corev1.Pod){annotated("on-completion")}, mode: cas, want: "n1", why: reason.BlockedByOnCompletionPod},
		"local storage":                    {pod: []func(*corev1.Pod){scratch}, mode: cas, rules: snapshot.DrainRules{SkipNodesWithLocalStorage: true}, want: "n1", why: reason.LocalStorageRequested},
		"local storage that is allowed":    {pod: []func(*corev1.Pod){scratch}, mode: cas, want: goes},
		"a controller that is gone":        {mode: cas, rules: snapshot.DrainRules{SkipNodesWithCustomControllerPods: true}, want: "n1", why: reason.ControllerNotFound},
		"a pod that is marked late":        {pod: []func(*corev1.Pod){annotated("on-completion")}, mode: cas, late: true, want: "n1", why: reason.BlockedByOnCompletionPod},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.mode == nil {
				tc.mode = func(*tenonv1alpha1.NodeGroup) {}
			}
			h := grouped(t, group(0, 2, tc.mode), 2, 0)
			h.cas(snapshot.ScaleDown{UtilizationThreshold: 1000, Drain: tc.rules})
			h.keep("n0")
			h.start()
			var changes []func(*corev1.Pod)
			if !tc.late {
				changes = tc.pod
			}
			h.pod("web", "n1", changes...)
			h.pass(2 * time.Second)
			if tc.late {
				var pod corev1.Pod
				h.Must(h.API.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "web"}, &pod))
				tc.pod[0](&pod)
				h.Put(&pod)
			}
			h.pass(14 * time.Second)
			if got := strings.Split(h.nodes(), ", ")[1]; got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if why := h.prospects["n1"].Cause.Code; why != tc.why && tc.want == "n1" {
				t.Errorf("it stays because of %q, want %q", why, tc.why)
			}
		})
	}
}

// cas sets the settings for groups in mode cas, beside those that they need to shrink at all.
func (h *fixture) cas(rules snapshot.ScaleDown) {
	rules.Enabled, rules.UnreadyEnabled, rules.MaxParallelism, rules.MaxDrainParallelism = true, true, 10, 10
	h.gates.NodeGroups, h.Kit.Settings.ScaleDown = true, rules
	h.start()
}

// marks are the taints of a node that Cluster Autoscaler knows, with their ages in seconds.
func (h *fixture) marks(name string) string {
	h.t.Helper()
	var node corev1.Node
	h.Get(name, &node)
	var out []string
	for _, taint := range node.Spec.Taints {
		if seconds, err := strconv.ParseInt(taint.Value, 10, 64); err == nil {
			out = append(out, fmt.Sprintf("%s:%s %d", taint.Key, taint.Effect, h.Clock.Now().Unix()-seconds))
		}
	}
	return strings.Join(out, ", ")
}

// TestUnneededNodesAreMarked: an unneeded node has the taint of a candidate, from which its time is counted, also by another
// process; the taint is removed when the node is needed again, or its group is in another mode. A node that is being removed has
// the taint that other programs know.
func TestUnneededNodesAreMarked(t *testing.T) {
	t.Parallel()
	const candidate, deleted = "DeletionCandidateOfClusterAutoscaler:PreferNoSchedule ", "ToBeDeletedByClusterAutoscaler:NoSchedule "
	cases := map[string]struct {
		change func(h *fixture)
		want   string
	}{
		"nothing changes":       {func(*fixture) {}, candidate + "30"},
		"another process":       {func(h *fixture) { h.start() }, candidate + "30"},
		"a pod comes and stays": {func(h *fixture) { h.pod("a", "n1"); h.pod("b", "n1"); h.pod("c", "n1") }, ""},
		"it has to stay":        {func(h *fixture) { h.keep("n1") }, ""},
		"its group is native": {func(h *fixture) {
			h.regroup(func(g *tenonv1alpha1.NodeGroup) {
				g.Spec.Mode = tenonv1alpha1.ModeNative
				g.Spec.Disruption = &karpenterv1.Disruption{ConsolidateAfter: karpenterv1.NeverEnding()}
			})
		}, ""},
		"its group has grown": {func(h *fixture) {
			h.regroup(func(g *tenonv1alpha1.NodeGroup) {
				g.Status.Scaled = &tenonv1alpha1.NodeGroupScaled{Up: metav1.NewTime(h.Clock.Now())}
			})
			h.pass(time.Minute)
		}, candidate + "90"},
		"its time has come": {func(h *fixture) { h.pass(31 * time.Second) }, candidate + "61, " + deleted + "1"},
		"a tag of the group": {func(h *fixture) {
			h.regroup(func(g *tenonv1alpha1.NodeGroup) { g.Status.Options = map[string]string{"scaledownunneededtime": "29s"} })
		}, candidate + "30, " + deleted + "0"},
		"a time that is no time": {func(h *fixture) {
			h.regroup(func(g *tenonv1alpha1.NodeGroup) {
				g.Status.Options = map[string]string{"scaledownunneededtime": "soon"}
			})
		}, candidate + "30"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := grouped(t, group(0, 2, func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode, g.Spec.Disruption = tenonv1alpha1.ModeCAS, nil }), 3, 0)
			h.cas(snapshot.ScaleDown{UtilizationThreshold: 500, UnneededTime: time.Minute, DelayAfterAdd: 2 * time.Minute})
			h.pass(time.Second)
			if got := h.marks("n1"); got != candidate+"0" {
				t.Fatalf("at first: %q", got)
			}
			h.pass(29 * time.Second)
			tc.change(h)
			h.pass(time.Second)
			if got := h.marks("n1"); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestANodeOfAGroupInModeCASIsTold: a node that is removed has the event that tools for Cluster Autoscaler look for, and nodes that
// stay are counted by its reasons.
func TestANodeOfAGroupInModeCASIsTold(t *testing.T) {
	t.Parallel()
	h := grouped(t, group(0, 2, func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode, g.Spec.Disruption = tenonv1alpha1.ModeCAS, nil }), 3, 0)
	h.cas(snapshot.ScaleDown{UtilizationThreshold: 500, UnneededTime: time.Minute})
	h.pass(time.Second)
	h.pass(30 * time.Second)
	want := []string{"unremovable_nodes_count{reason=NotUnderutilized} 1", "unremovable_nodes_count{reason=NotUnneededLongEnough} 1"}
	if got := h.Series("cluster_autoscaler_", h.Kit.Metrics.ClusterAutoscalerUnremovableNodesCount); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for range 20 {
		h.pass(30 * time.Second)
	}
	if events := strings.Join(h.Events(), "\n"); strings.Count(events, "Normal ScaleDown n1") != 1 {
		t.Errorf("events:\n%s", events)
	}
}

// TestANodeThatGoesIsCordoned: it is cordoned beside its taint, and uncordoned if it stays after all, unless another program had
// cordoned it.
func TestANodeThatGoesIsCordoned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ off, before, want, after bool }{
		"by Tenon": {want: true}, "by a person": {before: true, want: true, after: true}, "turned off": {off: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := grouped(t, group(0, 2, func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode, g.Spec.Disruption = tenonv1alpha1.ModeCAS, nil }), 3, 0)
			h.Kit.Settings.GroupDrain.Cordon = !tc.off
			h.cas(snapshot.ScaleDown{UtilizationThreshold: 500, UnneededTime: time.Minute})
			var node corev1.Node
			h.Get("n1", &node)
			node.Spec.Unschedulable = tc.before
			h.Put(&node)
			h.pass(time.Second)
			h.pass(61 * time.Second)
			h.Get("n1", &node)
			if !strings.Contains(h.marks("n1"), "ToBeDeleted") || node.Spec.Unschedulable != tc.want {
				t.Errorf("it goes with %s, cordoned %t, want %t", h.marks("n1"), node.Spec.Unschedulable, tc.want)
			}
			h.keep("n1")
			for range 5 {
				h.pass(time.Second)
			}
			h.Get("n1", &node)
			if strings.Contains(h.marks("n1"), "ToBeDeleted") || node.Spec.Unschedulable != tc.after {
				t.Errorf("it stays with %s, cordoned %t, want %t", h.marks("n1"), node.Spec.Unschedulable, tc.after)
			}
		})
	}
}

// regroup changes the group.
func (h *fixture) regroup(change func(*tenonv1alpha1.NodeGroup)) {
	h.t.Helper()
	var g tenonv1alpha1.NodeGroup
	h.Get("web", &g)
	change(&g)
	h.Put(&g)
}

// keep makes a node stay.
func (h *fixture) keep(name string) {
	h.t.Helper()
	var node corev1.Node
	h.Get(name, &node)
	node.Annotations[karpenterv1.AnnotationDoNotDisrupt] = "true"
	h.Put(&node)
}

// TestAGroupThatMayNotShrinkAnyMore: a command is taken back if the group is taken from Tenon, or if its minimum is raised to its
// size.
func TestAGroupThatMayNotShrinkAnyMore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*tenonv1alpha1.NodeGroup){
		"mode observe":     func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode = tenonv1alpha1.ModeObserve },
		"a higher minimum": func(g *tenonv1alpha1.NodeGroup) { g.Status.Size.Min = 2 },
		"a smaller size":   func(g *tenonv1alpha1.NodeGroup) { g.Status.Size.Desired = g.Status.Size.Min },
		"another may change": func(g *tenonv1alpha1.NodeGroup) {
			g.Status.Conditions[len(g.Status.Conditions)-1].Status = metav1.ConditionTrue
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := grouped(t, group(1, 2), 2, 0)
			h.pass(time.Second)
			if got := h.nodes(); got != "n0, n1 closed recorded" {
				t.Fatal(got)
			}
			var g tenonv1alpha1.NodeGroup
			h.Get("web", &g)
			change(&g)
			h.Put(&g)
			h.pass(10 * time.Second)
			if got := h.nodes(); got != "n0, n1" {
				t.Error(got)
			}
		})
	}
}

// TestACrashWhileAGroupShrinks: wherever the process dies, before a write or after it, the next one brings the nodes to the
// same end.
func TestACrashWhileAGroupShrinks(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		for at := 1; ; at += every(4) {
			h, writes, dead := grouped(t, group(1, 3), 1, 1, 0), 0, false
			h.Fail(func(c harness.Call) error {
				if c.IsWrite() {
					writes++
				}
				if dead = dead || writes > at || writes == at && !after; dead {
					return harness.ErrBroken
				}
				return nil
			})
			for range 12 {
				h.Clock.Step(time.Second)
				h.watch()
				_, _ = h.evaluate.Reconcile(context.Background(), noKey)
				h.watch()
				_, _ = h.conduct.Reconcile(context.Background(), noKey)
			}
			h.Fail(nil)
			h.start()
			h.pass(30 * time.Second)
			got := h.nodes()
			if strings.Count(got, "deleted closed recorded") != 2 || strings.Count(got, "closed") != 2 || strings.Count(got, "recorded") != 2 {
				t.Errorf("write %d (after it: %t): %s", at, after, got)
			}
			if !dead {
				if at < 8 {
					t.Fatalf("there are only %d writes", at-1)
				}
				break
			}
		}
	}
}
