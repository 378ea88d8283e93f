package termination_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpenterv1 "tenon/api/karpenter/v1"
	tenonv1alpha1 "tenon/api/tenon/v1alpha1"
	"tenon/cloud"
	"tenon/cloud/memory"
	"tenon/internal/controller/node/termination"
	"tenon/internal/departure"
	"tenon/internal/reconcile"
	"tenon/internal/testing/harness"
)

// member is a node of a group with two instances, and the controller.
func member(t *testing.T, floor int64) (*harness.Harness, *memory.Groups, *corev1.Node, reconcile.Controller) {
	t.Helper()
	h := harness.New(t, memory.Options{})
	groups := memory.NewGroups(cloud.Group{Name: "Web", Min: floor, Max: 9, Desired: 2, Types: []string{"m5.large"}, Zones: []string{"a"}})
	list, err := groups.Groups(context.Background())
	h.Must(err)
	h.Kit.Groups = groups
	h.Must(h.API.Create(context.Background(), &tenonv1alpha1.NodeGroup{
		ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tenonv1alpha1.NodeGroupSpec{GroupName: "Web", Mode: tenonv1alpha1.ModeNative},
		Status: tenonv1alpha1.NodeGroupStatus{Size: &tenonv1alpha1.NodeGroupSize{Min: floor, Max: 9, Desired: 2}},
	}))
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: "n", CreationTimestamp: metav1.NewTime(h.Clock.Now().Add(-time.Hour)), Finalizers: []string{karpenterv1.FinalizerTermination},
		Annotations: map[string]string{tenonv1alpha1.AnnotationGroup: "web"},
	}, Spec: corev1.NodeSpec{ProviderID: list[0].Instances[0].ProviderID}}
	harness.Ready(node)
	h.Must(h.API.Create(context.Background(), node))
	return h, groups, node, termination.New(h.Kit, termination.Options{})
}

// runMember looks at the node as often as the controller asks, but not for ever.
func runMember(h *harness.Harness, c reconcile.Controller) { runFor(h, c, 30) }

func runFor(h *harness.Harness, c reconcile.Controller, times int) {
	for range times {
		result := h.Run(c, "n")
		if result == reconcile.Never {
			return
		}
		h.Clock.Step(result.After)
	}
}

// TestAMemberOfAGroupGoes: its instance is ended once, and the group is one smaller and shows that, or gets another instance if it
// is as small as it may be.
func TestAMemberOfAGroupGoes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ floor, want int64 }{"the group gets smaller": {0, 1}, "it is replaced at the floor": {2, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, groups, node, _ := member(t, tc.floor)
			shown, told := int64(0), int64(0) // when the end of the instance is told, and with the object
			c := termination.New(h.Kit, termination.Options{Ended: func(n *corev1.Node) {
				var g tenonv1alpha1.NodeGroup
				if h.Get("web", &g) && n.Annotations[tenonv1alpha1.AnnotationEnded] != "" {
					shown = g.Status.Size.Desired
				}
			}, Shown: func(g *tenonv1alpha1.NodeGroup) { told = g.Status.Size.Desired }})
			h.Run(c, "n")
			if groups.Ended() != 0 {
				t.Fatal("a node that stays is ended")
			}
			h.Delete(node)
			runMember(h, c)
			var left corev1.Node
			if h.Get("n", &left) {
				t.Errorf("the node is still there: %+v", left.ObjectMeta)
			}
			var g tenonv1alpha1.NodeGroup
			h.Get("web", &g)
			list, err := groups.Groups(context.Background())
			h.Must(err)
			if groups.Ended() != 1 || list[0].Desired != tc.want || g.Status.Size.Desired != tc.want {
				t.Errorf("%d ended, the cloud keeps %d and %d is shown, want 1 and %d", groups.Ended(), list[0].Desired, g.Status.Size.Desired, tc.want)
			}
			if shown != 2 || told != tc.want {
				t.Errorf("the size was %d when it was told that the instance was ended, and %d was told, want 2 and %d", shown, told, tc.want)
			}
		})
	}
}

// TestAnEndedMemberThatCannotBeWritten: that an instance was ended is told even if it cannot be written on its node yet.
func TestAnEndedMemberThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h, groups, node, _ := member(t, 0)
	told := 0
	c := termination.New(h.Kit, termination.Options{Ended: func(n *corev1.Node) {
		if n.Annotations[tenonv1alpha1.AnnotationEnded] != "" && groups.Ended() == 1 {
			told++
		}
	}})
	h.Delete(node)
	h.Run(c, "n") // its taint
	h.Fail(func(c harness.Call) error {
		if c.String() == "patch Node" {
			return harness.ErrBroken
		}
		return nil
	})
	for range 5 {
		_, _ = c.Reconcile(t.Context(), reconcile.Key{Name: "n"}) // it fails
		h.Clock.Step(10 * time.Second)
	}
	if groups.Ended() != 1 || told == 0 {
		t.Errorf("%d instances are ended, which was told %d times", groups.Ended(), told)
	}
	h.Fail(nil)
	if runMember(h, c); h.Get("n", &corev1.Node{}) || groups.Ended() != 1 {
		t.Errorf("the node is still there, or %d instances are ended", groups.Ended())
	}
}

// TestAMemberWhoseInstanceIsGone: the object of a node that is not ready goes without a drain, and nothing else is ended.
func TestAMemberWhoseInstanceIsGone(t *testing.T) {
	t.Parallel()
	h, groups, node, c := member(t, 0)
	_, err := groups.End(context.Background(), "Web", node.Spec.ProviderID)
	h.Must(err)
	node.Status.Conditions = nil
	h.Put(node)
	h.Delete(node)
	runMember(h, c)
	if h.Get("n", &corev1.Node{}) || groups.Ended() != 1 {
		t.Errorf("the node is still there, or %d instances are ended", groups.Ended())
	}
}

// TestAMemberThatTheCloudTakes: the drained node stays until the cloud takes its instance, so that no decision counts on the replacement before; nothing
// is ended, and the size stays. An instance that the cloud does not take after all is ended like others.
func TestAMemberThatTheCloudTakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(h *harness.Harness, groups *memory.Groups, id string)
		stays  bool
		ended  int
	}{
		"it is not taken yet": {func(*harness.Harness, *memory.Groups, string) {}, true, 0},
		"it is gone":          {func(_ *harness.Harness, g *memory.Groups, id string) { g.Take("Web", id) }, false, 0},
		"it is ending":        {func(h *harness.Harness, g *memory.Groups, id string) { h.Kit.Groups = ending{g, id} }, false, 0},
		"it is never taken":   {func(h *harness.Harness, _ *memory.Groups, _ string) { h.Clock.Step(4 * time.Minute) }, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, groups, node, c := member(t, 0)
			metav1.SetMetaDataAnnotation(&node.ObjectMeta, departure.AnnotationEnds, h.Clock.Now().Add(time.Minute).UTC().Format(time.RFC3339))
			h.Put(node)
			h.Delete(node)
			runFor(h, c, 5) // the node is drained
			if !h.Get("n", &corev1.Node{}) {
				t.Fatal("the node has gone before its instance")
			}
			tc.change(h, groups, node.Spec.ProviderID)
			runFor(h, termination.New(h.Kit, termination.Options{}), 5)
			if stays := h.Get("n", &corev1.Node{}); stays != tc.stays || groups.Ended() != tc.ended || groups.List()[0].Desired != int64(2-tc.ended) {
				t.Errorf("the node stays: %t; %d instances are ended, and %d are desired", stays, groups.Ended(), groups.List()[0].Desired)
			}
		})
	}
}

// TestAMemberThatCannotBeEnded: a node of a group in mode cas tells that its instance cannot be ended, and counts once it is.
func TestAMemberThatCannotBeEnded(t *testing.T) {
	t.Parallel()
	h, groups, node, _ := member(t, 0)
	var g tenonv1alpha1.NodeGroup
	h.Get("web", &g)
	g.Spec.Mode = tenonv1alpha1.ModeCAS
	h.Put(&g)
	h.Delete(node)
	h.Kit.Groups = denied{groups}
	c := termination.New(h.Kit, termination.Options{})
	for range 5 {
		_, _ = c.Reconcile(context.Background(), reconcile.Key{Name: "n"}) // it fails
		h.Clock.Step(10 * time.Second)
	}
	if events := strings.Join(h.Events(), "\n"); !strings.Contains(events, "Warning ScaleDownFailed n: denied") {
		t.Errorf("events:\n%s", events)
	}
	if h.Get("web", &g); g.Status.Scaled == nil || g.Status.Scaled.Failed.IsZero() {
		t.Errorf("the failure is not on the group: %+v", g.Status.Scaled)
	}
	h.Kit.Groups = groups
	runMember(h, termination.New(h.Kit, termination.Options{}))
	if got := h.Count(h.Kit.Metrics.ClusterAutoscalerScaledDownNodesTotal.WithLabelValues("underutilized", "", "", "")); got != 1 {
		t.Errorf("%v nodes are counted, want 1", got)
	}
}

// denied are groups of which no instance may be ended.
type denied struct{ unasked }

// unasked are groups of which nothing else is asked.
type unasked interface{ cloud.Groups }

// ending are groups that end one instance by themselves.
type ending struct {
	unasked
	id string
}

func (e ending) Groups(ctx context.Context) ([]cloud.Group, error) {
	list, err := e.unasked.Groups(ctx)
	for i := range list {
		list[i].Instances = slices.Clone(list[i].Instances)
		if instance := list[i].Find(e.id); instance != nil {
			instance.State = cloud.Terminating
		}
	}
	return list, err
}

func (denied) End(context.Context, string, string) (int64, error) { return 0, errors.New("denied") }

// TestAMemberThatIsKept: while an annotation of another program is on a drained node, its instance is not ended, but not for longer than
// the flag allows.
func TestAMemberThatIsKept(t *testing.T) {
	t.Parallel()
	const kept = "delay-deletion.cluster-autoscaler.kubernetes.io/detach"
	for name, tc := range map[string]struct {
		mode  tenonv1alpha1.Mode
		freed bool
		least time.Duration
		most  time.Duration
	}{
		"until it is too long":  {mode: tenonv1alpha1.ModeCAS, least: 2 * time.Minute, most: 3 * time.Minute},
		"until it is taken off": {mode: tenonv1alpha1.ModeCAS, freed: true, least: 30 * time.Second, most: time.Minute},
		"not in mode native":    {mode: tenonv1alpha1.ModeNative, most: 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, groups, node, _ := member(t, 0)
			h.Kit.Settings.GroupDrain.DeletionDelay = 2 * time.Minute
			var g tenonv1alpha1.NodeGroup
			h.Get("web", &g)
			g.Spec.Mode = tc.mode
			h.Put(&g)
			node.Annotations[kept] = "true"
			h.Put(node)
			h.Delete(node)
			c, began := termination.New(h.Kit, termination.Options{}), h.Clock.Now()
			for groups.Ended() == 0 && h.Clock.Since(began) < 10*time.Minute {
				h.Clock.Step(max(h.Run(c, "n").After, time.Second))
				if now := new(corev1.Node); tc.freed && h.Clock.Since(began) >= 30*time.Second && h.Get("n", now) && now.Annotations[kept] != "" {
					delete(now.Annotations, kept)
					h.Put(now)
				}
			}
			if took := h.Clock.Since(began); groups.Ended() != 1 || took < tc.least || took > tc.most {
				t.Errorf("%d ended after %s, want from %s to %s", groups.Ended(), took, tc.least, tc.most)
			}
		})
	}
}

// TestAMemberThatIsNotDrained: in mode cas a drain whose pods do not begin to leave counts as failed once, on pods, node and group,
// after the flag's time, also if the controller was restarted meanwhile; and it goes on.
func TestAMemberThatIsNotDrained(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*corev1.Node)
		longer time.Duration
		fails  bool
	}{
		"too long":           {change: scaledDown, longer: 2 * time.Minute, fails: true},
		"not yet":            {change: scaledDown, longer: 2*time.Minute - 10*time.Second},
		"not by these rules": {longer: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _, node, _ := member(t, 0)
			h.Kit.Settings.GroupDrain.MaxEviction = 2 * time.Minute
			var g tenonv1alpha1.NodeGroup
			h.Get("web", &g)
			g.Spec.Mode = tenonv1alpha1.ModeCAS
			h.Put(&g)
			if tc.change != nil {
				tc.change(node)
				h.Put(node)
			}
			h.Bound("web-1", "n")
			h.Delete(node)
			for range 2 {
				h.Run(termination.New(h.Kit, termination.Options{}), "n")
				h.Clock.Step(tc.longer / 2)
			}
			for range 3 {
				h.Run(termination.New(h.Kit, termination.Options{}), "n")
			}
			events := strings.Join(h.Events(), "\n")
			failed := h.Count(h.Kit.Metrics.ClusterAutoscalerEvictedPodsTotal.WithLabelValues("failed"))
			h.Get("web", &g)
			onGroup := g.Status.Scaled != nil && !g.Status.Scaled.Failed.IsZero()
			onPod, onNode := strings.Contains(events, "ScaleDownFailed web-1: The pod could not be evicted"), strings.Contains(events, "ScaleDownFailed n: 1 pods could not be evicted within 2m0s")
			want := 0.0
			if tc.fails {
				want = 1
			}
			if onPod != tc.fails || onNode != tc.fails || onGroup != tc.fails || failed != want {
				t.Errorf("said on pod %t, node %t, group %t, counted %v; want %t; events:\n%s", onPod, onNode, onGroup, failed, tc.fails, events)
			}
			if !h.Get("n", &corev1.Node{}) {
				t.Error("the node is gone before its pod")
			}
		})
	}
}

// scaledDown marks a node that is removed by the rules of Cluster Autoscaler.
func scaledDown(n *corev1.Node) {
	n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: tenonv1alpha1.TaintToBeDeleted, Effect: corev1.TaintEffectNoSchedule})
}

// TestAMemberWithAnothersProviderIDEndsNoInstance: a node that wrote the provider ID of a node that registered before leaves without the
// instance.
func TestAMemberWithAnothersProviderIDEndsNoInstance(t *testing.T) {
	t.Parallel()
	h, groups, victim, c := member(t, 0)
	forged := victim.DeepCopy()
	forged.Name, forged.UID, forged.ResourceVersion, forged.CreationTimestamp = "a-forged", "", "", metav1.NewTime(h.Clock.Now().Add(-time.Minute))
	h.Must(h.API.Create(t.Context(), forged))
	h.Delete(forged)
	for range 30 {
		result := h.Run(c, forged.Name)
		if result == reconcile.Never {
			break
		}
		h.Clock.Step(result.After)
	}
	if groups.Ended() != 0 || h.Get(forged.Name, &corev1.Node{}) || !h.Get(victim.Name, &corev1.Node{}) {
		t.Fatalf("%d instances ended, or the wrong nodes are left", groups.Ended())
	}
	h.Delete(victim) // goes with its instance as before
	if runMember(h, c); groups.Ended() != 1 {
		t.Errorf("%d instances ended, want one", groups.Ended())
	}
}
