package world_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/core/snapshot"
	"tenon/internal/ingest"
	"tenon/internal/testing/randomcluster"
	"tenon/internal/world"
)

// webGroup is a group in mode native that the cloud keeps at a size.
func webGroup(desired int64, change ...func(*tenonv1alpha1.NodeGroup)) *tenonv1alpha1.NodeGroup {
	room := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("58")}
	g := &tenonv1alpha1.NodeGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "Web", Mode: tenonv1alpha1.ModeNative},
		Status: tenonv1alpha1.NodeGroupStatus{
			Size: &tenonv1alpha1.NodeGroupSize{Max: 9, Desired: desired}, Instances: &tenonv1alpha1.NodeGroupInstances{Total: 1, Ready: 1},
			InstanceTypes: []string{"m5.xlarge"}, Zones: []string{"a"}, Price: &tenonv1alpha1.NodeGroupPrice{PerNode: "0.192"},
			Template: &tenonv1alpha1.NodeGroupTemplate{Capacity: room, Allocatable: room},
		},
	}
	for _, c := range change {
		c(g)
	}
	return g
}

// webNode is a node of the group, which has joined or starts.
func webNode(name string, joined bool) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{tenonv1alpha1.AnnotationGroup: "web"}, CreationTimestamp: metav1.NewTime(randomcluster.Now),
	}}
	n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("58")}
	if joined {
		n.Annotations[tenonv1alpha1.AnnotationJoined] = "true"
	} else {
		n.Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}}
	}
	return n
}

// newcomer is a node that has just joined and is not annotated with its group yet.
func newcomer(name, providerID string) *corev1.Node {
	n := webNode(name, true)
	n.Annotations, n.Spec.ProviderID = nil, providerID
	return n
}

func starting(n *corev1.Node) *corev1.Node {
	n.Spec.Taints = []corev1.Taint{{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoSchedule}}
	return n
}

// TestGroups compares the picture of a group and its nodes with what ingest.Build makes of them: instances that the cloud was
// asked for and that have no node count as nodes to come.
func TestGroups(t *testing.T) {
	t.Parallel()
	leaving := webNode("b", true)
	leaving.DeletionTimestamp, leaving.Finalizers = &metav1.Time{Time: randomcluster.Now}, []string{"x/y"}
	cases := map[string]struct {
		group *tenonv1alpha1.NodeGroup
		nodes []*corev1.Node
		want  string
	}{
		"one of three is there":                  {webGroup(3), []*corev1.Node{webNode("b", true)}, "b initialized 0.192, nodegroup/web/1 unborn 0.192, nodegroup/web/2 unborn 0.192"},
		"one starts, without its taint":          {webGroup(1), []*corev1.Node{webNode("b", false)}, "b 0.192"},
		"more are there than were asked for":     {webGroup(0), []*corev1.Node{webNode("b", true)}, "b initialized 0.192"},
		"one is replaced by the cloud":           {webGroup(1), []*corev1.Node{leaving}, "b initialized leaving 0.192, nodegroup/web/1 unborn 0.192"},
		"nodes of an observed group are counted": {webGroup(2, func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode = "" }), nil, "nodegroup/web/1 unborn 0.192"},
		"handed over":                            {webGroup(2, func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode = "handover" }), []*corev1.Node{webNode("b", true)}, "b initialized drifted 0.192, nodegroup/web/1 unborn 0.192"},
		"handed over, and paused": {webGroup(1, func(g *tenonv1alpha1.NodeGroup) {
			g.Spec.Mode, g.Annotations = "handover", map[string]string{tenonv1alpha1.AnnotationHandoverPaused: "true"}
		}), []*corev1.Node{webNode("b", true)}, "b initialized drifted 0.192, paused"},
		"one has joined and has no annotation yet": {webGroup(2, func(g *tenonv1alpha1.NodeGroup) {
			g.Status.Unregistered = []tenonv1alpha1.UnregisteredInstance{{ProviderID: "aws:///a/i-2"}, {ProviderID: "aws:///a/i-3"}}
		}), []*corev1.Node{webNode("b", true), newcomer("c", "aws:///a/i-2")}, "b initialized 0.192, c initialized 0"},
		"one has joined without an annotation, and starts": {webGroup(2, func(g *tenonv1alpha1.NodeGroup) {
			g.Status.Unregistered = []tenonv1alpha1.UnregisteredInstance{{ProviderID: "aws:///a/i-2"}}
		}), []*corev1.Node{webNode("b", true), starting(newcomer("c", "aws:///a/i-2"))}, "b initialized 0.192, c initialized tainted 0, nodegroup/web/1 unborn 0.192"},
		"a node of no group joins": {webGroup(2, func(g *tenonv1alpha1.NodeGroup) {
			g.Status.Unregistered = []tenonv1alpha1.UnregisteredInstance{{ProviderID: "aws:///a/i-2"}}
		}), []*corev1.Node{webNode("b", true), newcomer("c", "aws:///a/i-9")}, "b initialized 0.192, c initialized 0, nodegroup/web/1 unborn 0.192"},
		"nothing is known of the group": {webGroup(3, func(g *tenonv1alpha1.NodeGroup) { g.Status.Size = nil }), []*corev1.Node{webNode("b", true)}, "b initialized 0"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := (&randomcluster.Cluster{}).Options()
			options.Files = false
			w := world.New(options, testclock.NewFakePassiveClock(randomcluster.Now))
			objects := &ingest.Objects{NodeGroups: []*tenonv1alpha1.NodeGroup{tc.group}, Nodes: tc.nodes}
			w.Put(tc.group)
			for _, n := range tc.nodes {
				w.Put(n)
			}
			got := w.Picture(world.Moment{Now: randomcluster.Now, Settings: options.Settings}).Snapshot
			options.Now = randomcluster.Now
			if diff := cmp.Diff(content(t, ingest.Build(objects, options)), content(t, got)); diff != "" {
				t.Errorf("picture (-built +world):\n%s", diff)
			}
			if text := nodesOf(got); text != tc.want {
				t.Errorf("nodes %s, want %s", text, tc.want)
			}
		})
	}
}

func nodesOf(s *snapshot.Snapshot) string {
	out := ""
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if out != "" {
			out += ", "
		}
		out += n.Name
		for _, flag := range []struct {
			name string
			is   bool
		}{{"initialized", n.Initialized}, {"leaving", n.Leaving}, {"unborn", n.Life.Unborn}, {"tainted", len(n.Taints) > 0}, {"drifted", n.Life.Drifted != ""}} {
			if flag.is {
				out += " " + flag.name
			}
		}
		out += fmt.Sprint(" ", n.Price)
	}
	for i := range s.Pools {
		if s.Pools[i].Consolidation.Pace != nil {
			out += ", paused"
		}
	}
	return out
}

// TestGroupsChange: a reader sees the same picture while a group stays as it is, and another one when the cloud keeps another
// size, when a node joins, when the group is handed over and taken back, and when it goes. What a status says of conditions again is no change.
func TestGroupsChange(t *testing.T) {
	t.Parallel()
	options := (&randomcluster.Cluster{}).Options()
	w := world.New(options, testclock.NewFakePassiveClock(randomcluster.Now))
	handover := func(g *tenonv1alpha1.NodeGroup) { g.Spec.Mode = tenonv1alpha1.ModeHandover }
	r, wakes := w.Reader(), 0
	w.Subscribe(func() { wakes++ })
	now := randomcluster.Now
	look := func() (string, bool) {
		now = now.Add(time.Second)
		p := r.Picture(world.Moment{Now: now, Settings: options.Settings})
		return nodesOf(p.Snapshot), p.Same
	}
	steps := []struct {
		name  string
		do    func()
		nodes string
		same  bool
		wakes int
	}{
		{"a group", func() { w.Put(webGroup(1)) }, "nodegroup/web/1 unborn 0.192", false, 1},
		{"again", func() { w.Put(webGroup(1)) }, "nodegroup/web/1 unborn 0.192", true, 0},
		{"it grows", func() { w.Put(webGroup(2)) }, "nodegroup/web/1 unborn 0.192, nodegroup/web/2 unborn 0.192", false, 1},
		{"one joins", func() { w.Put(webNode("b", true)) }, "b initialized 0.192, nodegroup/web/1 unborn 0.192", false, 1},
		{"it is handed over", func() { w.Put(webGroup(2, handover)) }, "b initialized drifted 0.192, nodegroup/web/1 unborn 0.192", false, 1},
		{"still", func() { w.Put(webGroup(2, handover)) }, "b initialized drifted 0.192, nodegroup/web/1 unborn 0.192", true, 0},
		{"paused", func() {
			w.Put(webGroup(2, handover, func(g *tenonv1alpha1.NodeGroup) {
				g.Annotations = map[string]string{tenonv1alpha1.AnnotationHandoverPaused: "true"}
			}))
		}, "b initialized drifted 0.192, nodegroup/web/1 unborn 0.192, paused", false, 1},
		{"taken back", func() { w.Put(webGroup(2)) }, "b initialized 0.192, nodegroup/web/1 unborn 0.192", false, 1},
		{"it goes", func() { w.Remove(webGroup(3)) }, "b initialized 0", false, 1},
	}
	for _, step := range steps {
		before := wakes
		step.do()
		nodes, same := look()
		if nodes != step.nodes || same != step.same || wakes-before != step.wakes {
			t.Errorf("%s: nodes %s, the same %t, %d wakes; want %s, %t, %d", step.name, nodes, same, wakes-before, step.nodes, step.same, step.wakes)
		}
	}
	w.Put(webGroup(1))
	if g, found := w.Group("Web"); !found || g.Name != "web" {
		t.Errorf("the group is not found by its name in the cloud: %v", g)
	}
}

// TestAnEndedNodeStaysEnded: the instance of a node was ended, which was written on it. The watch may still bring the node as it was before,
// and the group's smaller size already; the other instance counts all the same.
func TestAnEndedNodeStaysEnded(t *testing.T) {
	t.Parallel()
	w := world.New((&randomcluster.Cluster{}).Options(), testclock.NewFakePassiveClock(randomcluster.Now))
	version := func(version string, ended string) *corev1.Node {
		n := webNode("a", true)
		n.DeletionTimestamp, n.Finalizers, n.ResourceVersion = &metav1.Time{Time: randomcluster.Now}, []string{karpenterv1.FinalizerTermination}, version
		n.Annotations[tenonv1alpha1.AnnotationEnded] = ended
		return n
	}
	w.Put(webGroup(1))
	left := func(want int64) {
		t.Helper()
		if _, left := w.GroupObject("web"); left != want {
			t.Errorf("the size will be %d, want %d", left, want)
		}
	}
	w.Put(version("9", ""))
	left(0)
	const ended = "2026-03-02T12:00:00Z"
	w.NodeWritten(version("9", ended)) // it is being written
	w.Put(version("9", ""))
	left(1)
	w.NodeWritten(version("11", ended))
	w.Put(version("10", ""))
	left(1)
	w.Remove(version("12", ""))
	w.NodeWritten(version("11", ""))
	left(1)
}

// TestAnOlderGroupIsIgnored: after a size was written, the watch may still bring the object as it was before; the instances that were requested count all
// the same. An object that was made anew counts, also with a lower version.
func TestAnOlderGroupIsIgnored(t *testing.T) {
	t.Parallel()
	options := (&randomcluster.Cluster{}).Options()
	w := world.New(options, testclock.NewFakePassiveClock(randomcluster.Now))
	version := func(uid, version string, desired int64) *tenonv1alpha1.NodeGroup {
		return webGroup(desired, func(g *tenonv1alpha1.NodeGroup) { g.UID, g.ResourceVersion = types.UID(uid), version })
	}
	for _, step := range []struct {
		put  *tenonv1alpha1.NodeGroup
		want int64
	}{
		{version("a", "9", 1), 1},
		{version("a", "11", 3), 3},
		{version("a", "10", 2), 3},
		{version("a", "12", 4), 4},
		{version("b", "8", 1), 1},
	} {
		w.Put(step.put)
		if g, _ := w.Group("Web"); g.Status.Size.Desired != step.want {
			t.Errorf("after version %s of %s: size %d, want %d", step.put.ResourceVersion, step.put.UID, g.Status.Size.Desired, step.want)
		}
	}
}
